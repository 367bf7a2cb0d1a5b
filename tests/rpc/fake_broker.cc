#include "tests/rpc/fake_broker.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

namespace skiplane::rpc {
namespace {

template <typename Answer>
void Answered(const absl::Status& refusal, Answer answer, broker::Callback<Answer>& done) {
  if (refusal.ok()) {
    done(std::move(answer));
  } else {
    done(refusal);
  }
}

}  // namespace

class FakeBroker::Parked final : public broker::PendingLease {
 public:
  Parked(FakeBroker& owner, broker::Callback<broker::LeaseAnswer> done)
      : owner_(owner), done_(std::move(done)) {}

  void Cancel() override { owner_.Cancelled(this); }
  void Answer(broker::LeaseAnswer answer) { done_(std::move(answer)); }

 private:
  FakeBroker& owner_;
  broker::Callback<broker::LeaseAnswer> done_;
};

int FakeBroker::calls() const {
  base::MutexLock lock(mutex_);
  return calls_ + operators.calls;
}

std::vector<broker::LeaseAnswer> FakeBroker::handed_back() const {
  base::MutexLock lock(mutex_);
  return handed_back_;
}

bool FakeBroker::WaitFor(const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  base::MutexLock lock(mutex_);
  while (!condition()) {
    if (!changed_.WaitUntil(mutex_, deadline)) return condition();
  }
  return true;
}

bool FakeBroker::WaitForParked(size_t count) {
  return WaitFor([this, count] { return parked_.size() >= count; });
}

bool FakeBroker::WaitForCancels(int count) {
  return WaitFor([this, count] { return cancels_ >= count; });
}

bool FakeBroker::WaitForHandBacks(size_t count) {
  return WaitFor([this, count] { return handed_back_.size() >= count; });
}

void FakeBroker::AnswerParked(const broker::LeaseAnswer& answer) {
  std::vector<std::shared_ptr<Parked>> parked;
  {
    base::MutexLock lock(mutex_);
    parked.swap(parked_);
  }
  for (const std::shared_ptr<Parked>& lease_call : parked) lease_call->Answer(answer);
}

void FakeBroker::Cancelled(Parked* parked) {
  std::shared_ptr<Parked> found;
  {
    base::MutexLock lock(mutex_);
    ++cancels_;
    changed_.NotifyAll();
    if (!behaviour.answers_cancelled) return;
    const auto place =
        std::find_if(parked_.begin(), parked_.end(),
                     [parked](const auto& candidate) { return candidate.get() == parked; });
    if (place == parked_.end()) return;
    found = *place;
    parked_.erase(place);
  }
  found->Answer({});
}

void FakeBroker::Count() {
  base::MutexLock lock(mutex_);
  ++calls_;
}

void FakeBroker::Enqueue(broker::EnqueueCall call,
                         broker::Callback<std::vector<broker::EnqueueResult>> done) {
  Count();
  std::vector<broker::EnqueueResult> results;
  for (size_t i = 0; i < call.tasks.size(); ++i) {
    const auto outcome =
        i % 2 == 1 ? model::EnqueueOutcome::kExisting : model::EnqueueOutcome::kCreated;
    results.push_back({{7, static_cast<int64_t>(i) + 1}, outcome});
  }
  enqueue = std::move(call);
  Answered(behaviour.refusal, std::move(results), done);
}

void FakeBroker::OpenSession(broker::OpenSessionCall call,
                             broker::Callback<broker::OpenSessionAnswer> done) {
  {
    base::MutexLock lock(mutex_);
    ++calls_;
    open = std::move(call);
  }
  broker::OpenSessionAnswer answer;
  answer.states.assign(open.leases.size(), model::LeaseState::kHeld);
  answer.lease_duration = open.lease.lease_duration.value_or(absl::Seconds(30));
  answer.lease_remaining = answer.lease_duration;
  Answered(behaviour.refusal, std::move(answer), done);
}

std::shared_ptr<broker::PendingLease> FakeBroker::Lease(
    broker::LeaseCall call, broker::Callback<broker::LeaseAnswer> done) {
  Count();
  if (!behaviour.refusal.ok()) {
    done(behaviour.refusal);
    return nullptr;
  }
  auto parked = std::make_shared<Parked>(*this, std::move(done));
  if (call.wait == absl::ZeroDuration() && behaviour.answers_at_once) {
    lease = std::move(call);
    parked->Answer({});
    return parked;
  }
  base::MutexLock lock(mutex_);
  lease = std::move(call);
  parked_.push_back(parked);
  changed_.NotifyAll();
  return parked;
}

void FakeBroker::Settle(std::vector<model::SettleItem> items, const std::string& party,
                        broker::Callback<std::vector<model::SettleResult>> done) {
  Count();
  settle = std::move(items);
  settle_party = party;
  Answered(behaviour.refusal, behaviour.settled, done);
}

std::shared_ptr<broker::PendingLease> FakeBroker::SettleAndLease(
    broker::SettleAndLeaseCall call, broker::Callback<broker::SettleAndLeaseAnswer> done) {
  settle = std::move(call.items);
  if (!behaviour.lease_refusal.ok()) {
    Count();
    done(broker::SettleAndLeaseAnswer{behaviour.settled, std::nullopt, behaviour.lease_refusal});
    return nullptr;
  }
  return Lease(std::move(call.lease), [settled = behaviour.settled, done = std::move(done)](
                                          absl::StatusOr<broker::LeaseAnswer> answer) mutable {
    if (answer.ok()) {
      done(broker::SettleAndLeaseAnswer{std::move(settled), *std::move(answer), {}});
    } else {
      done(answer.status());
    }
  });
}

void FakeBroker::Heartbeat(broker::HeartbeatCall call,
                           broker::Callback<broker::HeartbeatAnswer> done) {
  Count();
  heartbeat = std::move(call);
  Answered(behaviour.refusal, behaviour.heartbeat, done);
}

void FakeBroker::HandBack(const broker::LeaseAnswer& undelivered) {
  base::MutexLock lock(mutex_);
  handed_back_.push_back(undelivered);
  changed_.NotifyAll();
}

void FakeBroker::CreateQueue(broker::CreateQueueCall call, broker::Callback<model::Queue> done) {
  Count();
  create = std::move(call);
  Answered(behaviour.refusal, behaviour.queue.queue, done);
}

void FakeBroker::GetQueue(broker::GetQueueCall, broker::Callback<broker::QueueWithCounts> done) {
  Count();
  Answered(behaviour.refusal, behaviour.queue, done);
}

void FakeBroker::ListQueues(broker::ListQueuesCall call,
                            broker::Callback<model::Page<model::Queue>> done) {
  Count();
  model::Page<model::Queue> page;
  for (const model::Queue& queue : behaviour.queues) {
    if (queue.name <= call.after) continue;
    page.has_more = page.items.size() == static_cast<size_t>(call.limit);
    if (!page.has_more) page.items.push_back(queue);
  }
  Answered(behaviour.refusal, std::move(page), done);
}

void FakeBroker::UpdateQueue(broker::UpdateQueueCall call, broker::Callback<model::Queue> done) {
  Count();
  model::Queue changed = behaviour.queue.queue;
  const absl::StatusOr<model::QueueSettings> settings = call.change(changed.settings);
  update = std::move(call);
  if (!settings.ok()) return done(settings.status());
  changed.settings = *settings;
  Answered(behaviour.refusal, std::move(changed), done);
}

void FakeBroker::PauseQueue(broker::PauseQueueCall call, broker::Callback<model::Queue> done) {
  Count();
  pause = std::move(call);
  Answered(behaviour.refusal, behaviour.queue.queue, done);
}

// The first call comes when the server starts, after the test has said how it shall behave.
broker::Operator& FakeBroker::AsOperator() {
  operators.refusal = behaviour.refusal;
  operators.task = behaviour.task;
  return operators;
}

void FakeBroker::BeginDrain() {
  if (behaviour.answers_at_drain) AnswerParked({});
}

}  // namespace skiplane::rpc
