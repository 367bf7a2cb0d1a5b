// A Produce: enqueues of any queues, each answered by its number when it is committed. They join
// the batches that calls of Enqueue form.
#pragma once

#include <vector>

#include "server/broker/api/broker.h"
#include "server/rpc/broker/produce_answers.h"
#include "server/rpc/stream/message_stream.h"
#include "skiplane/v1/broker.pb.h"

namespace skiplane::rpc {

class ProduceStream final : public MessageStream {
 public:
  ProduceStream(CallScope scope, StreamSet& streams, grpc::CallbackServerContext* context,
                broker::Broker& broker)
      : MessageStream(scope, {"skiplane.v1.BrokerService/Produce", "produce"}, streams, context),
        broker_(broker),
        answers_(&unsent_) {}

 private:
  ~ProduceStream() override = default;

  absl::Status OnMessage(const grpc::ByteBuffer& bytes, absl::StatusOr<HoldPtr> hold) override;
  Outgoing TakeOutgoing() override;
  void SayDraining() override { says_draining_ = true; }

  absl::StatusOr<broker::EnqueueCall> Read(v1::EnqueueRequest* request);
  void Answer(int64_t number, absl::StatusOr<std::vector<broker::EnqueueResult>> results);

  broker::Broker& broker_;
  int64_t last_number_ = 0;      // for OnMessage()
  ProduceAnswers answers_;       // under the lock
  bool says_draining_ = false;  // under the lock
};

}  // namespace skiplane::rpc
