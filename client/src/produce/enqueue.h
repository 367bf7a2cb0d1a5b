// One Enqueue of a Client on its way through a Producer: what is sent, until it is answered, and
// whom the answer is for.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "client/src/connection.h"
#include "client/src/stream/timer.h"
#include "skiplane/pending_call.h"
#include "skiplane/v1/broker.pb.h"

namespace skiplane::internal {

class Producer;

struct Enqueue : public PendingCall::Target {
  using Answer = absl::StatusOr<v1::EnqueueResponse>;

  enum class Place { kQueue, kStream, kPause, kUnary, kOver };

  // Ends soon, on a thread of gRPC.
  void Cancel() override;

  // Without the producer's mutex, once it is over: what it holds may be the last hold on the
  // connection.
  void Finish(Answer answer) {
    auto call_back = std::move(done);
    call_back(std::move(answer));
    connection.reset();
  }

  std::shared_ptr<Connection> connection;
  std::weak_ptr<Enqueue> self;
  std::weak_ptr<Producer> producer;
  absl::AnyInvocable<void(Answer)> done;
  Timer::Time deadline;
  int tasks = 0;
  size_t bytes = 0;

  // The rest is guarded by the producer's mutex.
  std::unique_ptr<v1::ProduceEnqueue> message;  // null while it is part of what is being sent
  Place place = Place::kQueue;
  int attempt = 0;
  int64_t number = 0;             // on a stream
  const void* stream = nullptr;   // which one
  bool is_cancelled = false;
  PendingCall unary{};
};

using EnqueuePtr = std::shared_ptr<Enqueue>;

}  // namespace skiplane::internal
