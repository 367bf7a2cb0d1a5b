// A Watch: what changed of queues, one message at a time. The broker is asked for the next one when
// the one before is on its way, so that a slow reader keeps nothing back but that.
//
// Created with new by a handler; it deletes itself when gRPC is done with it, which is after the
// broker has answered.
#pragma once

#include <memory>

#include <grpcpp/grpcpp.h>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/base/mutex.h"
#include "server/broker/api/operator.h"
#include "server/rpc/stream/open_stream.h"

namespace skiplane::rpc {

class WatchStream final : public grpc::ServerWriteReactor<grpc::ByteBuffer>, public OpenStream {
 public:
  WatchStream(CallScope scope, StreamSet& streams, grpc::CallbackServerContext* context,
              broker::Operator& oper)
      : OpenStream(scope, {"skiplane.v1.AdminService/Watch", "watch"}, streams, context),
        operator_(oper) {}

  // Once, from the handler.
  void Begin(const grpc::ByteBuffer& request);

  void Drain() override { EndWith(absl::OkStatus()); }
  void Retire() override { EndWith(absl::OkStatus()); }

 private:
  ~WatchStream() override = default;

  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override;

  absl::Status Start(const grpc::ByteBuffer& request);
  absl::StatusOr<std::shared_ptr<const broker::Permit>> PermitNow();
  // The next three go on with what keeps the stream there, or let it go.
  void Ask();
  void Tell(absl::StatusOr<broker::QueueChanges> changes);
  void Release();
  void EndWith(absl::Status end, bool is_broken = false);

  broker::Operator& operator_;
  // For PermitNow(), which is called under a lock of the broker.
  access::Grants permitted_;
  std::shared_ptr<const broker::Permit> permit_;
  // For the one message that is being written.
  grpc::ByteBuffer message_;
  std::shared_ptr<const void> memory_;

  base::Mutex mutex_;
  std::shared_ptr<broker::QueueWatcher> watcher_ ABSL_GUARDED_BY(mutex_);
  int under_way_ ABSL_GUARDED_BY(mutex_) = 1;  // what still comes back to it
  bool is_ending_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_broken_ ABSL_GUARDED_BY(mutex_) = false;  // nothing can be sent
  absl::Status end_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace skiplane::rpc
