// A broker, and queues that take so many tasks, so many bytes, or so fast.
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "server/base/reason.h"
#include "tests/broker/broker_harness.h"

namespace skiplane::testing {

using Results = absl::StatusOr<std::vector<broker::EnqueueResult>>;

class QueueRoomHarness : public BrokerHarness {
 protected:
  void Create(const std::string& name, model::QueueLimits limits) {
    broker::CreateQueueCall call;
    call.name = name;
    call.settings.emplace().limits = limits;
    call.origin = Origin();
    Later<model::Queue> later;
    broker().CreateQueue(std::move(call), later.done());
    ASSERT_THAT(later.Get().status(), IsOk());
  }

  void SetLimits(const std::string& name, model::QueueLimits limits) {
    broker::UpdateQueueCall call;
    call.name = name;
    call.change = [limits](const model::QueueSettings& known) {
      model::QueueSettings changed = known;
      changed.limits = limits;
      return changed;
    };
    call.origin = Origin();
    Later<model::Queue> later;
    broker().UpdateQueue(std::move(call), later.done());
    ASSERT_THAT(later.Get().status(), IsOk());
  }

  static model::QueueLimits Depth(int64_t tasks) {
    model::QueueLimits limits;
    limits.max_depth = tasks;
    return limits;
  }
  static model::QueueLimits Bytes(int64_t bytes) {
    model::QueueLimits limits;
    limits.max_bytes = bytes;
    return limits;
  }
  static model::QueueLimits Rate(double per_second) {
    model::QueueLimits limits;
    limits.max_enqueue_rate = per_second;
    return limits;
  }

  static std::vector<model::NewTask> Some(int count, size_t bytes = 1) {
    return {static_cast<size_t>(count), Payload(std::string(bytes, 'x'))};
  }

  static Results Put(broker::LocalBroker& at, const std::string& queue,
                     std::vector<model::NewTask> tasks) {
    broker::EnqueueCall call;
    call.queue = queue;
    call.tasks = std::move(tasks);
    for (const model::NewTask& task : call.tasks) call.has_several_queues |= !task.queue.empty();
    Later<std::vector<broker::EnqueueResult>> later;
    at.Enqueue(std::move(call), later.done());
    return later.Get();
  }
  Results Put(const std::string& queue, std::vector<model::NewTask> tasks) {
    return Put(broker(), queue, std::move(tasks));
  }

  // Until it is taken: what others did is found a moment later.
  void PutInTheEnd(const std::string& queue, const std::vector<model::NewTask>& tasks) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (!Put(queue, tasks).ok()) ASSERT_LT(std::chrono::steady_clock::now(), end);
  }

  static void ExpectFull(const Results& results, const std::string& setting) {
    ASSERT_EQ(results.status().code(), absl::StatusCode::kResourceExhausted) << results.status();
    EXPECT_EQ(base::ReasonOf(results.status()), "QUEUE_FULL");
    EXPECT_EQ(base::FieldOf(results.status()), "queue");
    EXPECT_THAT(std::string(results.status().message()), ::testing::HasSubstr(setting));
  }

  int64_t Tasks() const {
    return Number("SELECT (SELECT count(*) FROM skiplane.task) +"
                  " (SELECT count(*) FROM skiplane.packed_task)");
  }

  std::vector<model::LeasedTask> Take(int count) {
    broker::LeaseCall call = LeaseOf("w", count);
    return Lease(std::move(call)).tasks;
  }
};

}  // namespace skiplane::testing
