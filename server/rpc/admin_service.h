// skiplane.v1.AdminService: what operators call. As in BrokerService, nothing blocks. Thread-safe.
#pragma once

#include <grpcpp/grpcpp.h>

#include "server/broker/broker.h"
#include "server/rpc/call.h"
#include "skiplane/v1/admin.grpc.pb.h"

namespace skiplane::rpc {

using RawAdminService = v1::AdminService::WithRawCallbackMethod_CreateQueue<
    v1::AdminService::WithRawCallbackMethod_GetQueue<
        v1::AdminService::WithRawCallbackMethod_ListQueues<
            v1::AdminService::WithRawCallbackMethod_UpdateQueue<
                v1::AdminService::WithRawCallbackMethod_PauseQueue<
                    v1::AdminService::WithRawCallbackMethod_ResumeQueue<
                        v1::AdminService::WithRawCallbackMethod_GetTask<
                            v1::AdminService::Service>>>>>>>;

class AdminService final : public RawAdminService {
 public:
  AdminService(broker::Broker& broker, CallScope scope) : broker_(broker), scope_(scope) {}

  grpc::ServerUnaryReactor* CreateQueue(grpc::CallbackServerContext* context,
                                        const grpc::ByteBuffer* request,
                                        grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* GetQueue(grpc::CallbackServerContext* context,
                                     const grpc::ByteBuffer* request,
                                     grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* ListQueues(grpc::CallbackServerContext* context,
                                       const grpc::ByteBuffer* request,
                                       grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* UpdateQueue(grpc::CallbackServerContext* context,
                                        const grpc::ByteBuffer* request,
                                        grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* PauseQueue(grpc::CallbackServerContext* context,
                                       const grpc::ByteBuffer* request,
                                       grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* ResumeQueue(grpc::CallbackServerContext* context,
                                        const grpc::ByteBuffer* request,
                                        grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* GetTask(grpc::CallbackServerContext* context,
                                    const grpc::ByteBuffer* request,
                                    grpc::ByteBuffer* reply) override;

 private:
  broker::Broker& broker_;
  const CallScope scope_;
};

}  // namespace skiplane::rpc
