#include "client/src/testing/memory_state.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/src/worker/ack_item.h"
#include "client/src/worker/nack_item.h"
#include "client/src/worker/run_handler.h"
#include "client/src/worker/settlement.h"

namespace skiplane::internal {
namespace {

class MemoryAttempt : public Attempt {
 public:
  MemoryAttempt(MemoryState& state, const LeasedTask& task, std::stop_token stop)
      : state_(state), task_(task), stop_(std::move(stop)) {}

  std::stop_token stop_token() const override { return stop_; }

  void Report(TaskProgress progress) override {
    const std::lock_guard<std::mutex> lock(state_.mutex);
    MemoryTask* const task = state_.store.Leased(task_.lease_token);
    if (task != nullptr) task->progress = std::move(progress);
  }

 private:
  MemoryState& state_;
  const LeasedTask& task_;
  const std::stop_token stop_;
};

}  // namespace

// The right to run handlers; a handler of this thread has none.
class MemoryState::Turn {
 public:
  explicit Turn(MemoryState& state) : state_(state) {
    if (!is_mine_) return;
    state_.run_mutex_.lock();
    state_.runner_ = std::this_thread::get_id();
  }
  ~Turn() {
    if (!is_mine_) return;
    state_.runner_ = std::thread::id();
    state_.run_mutex_.unlock();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  bool is_mine() const { return is_mine_; }

 private:
  MemoryState& state_;
  const bool is_mine_ = state_.runner_.load() != std::this_thread::get_id();
};

bool MemoryState::RunOne() {
  const Turn turn(*this);
  std::set<int64_t> released;
  return turn.is_mine() && RunNext(released);
}

int MemoryState::RunUntilIdle() {
  const Turn turn(*this);
  return turn.is_mine() ? RunReady() : 0;
}

int MemoryState::RunFor(absl::Duration duration) {
  const Turn turn(*this);
  if (!turn.is_mine()) return 0;
  std::unique_lock<std::mutex> lock(mutex);
  const absl::Time end = store.now() + std::max(duration, absl::ZeroDuration());
  int attempts = 0;
  while (true) {
    lock.unlock();
    attempts += RunReady();
    lock.lock();
    if (store.now() >= end) return attempts;
    const absl::Time next = store.NextDue().value_or(end);
    store.Advance(std::min(next, end) - store.now());
  }
}

int MemoryState::RunReady() {
  std::set<int64_t> released;
  int attempts = 0;
  while (RunNext(released)) ++attempts;
  return attempts;
}

bool MemoryState::RunNext(std::set<int64_t>& released) {
  LeasedTask task;
  std::stop_token stop;
  MemoryCrewPtr crew;
  {
    const std::lock_guard<std::mutex> lock(mutex);
    crew = Lease(released, task, stop);
  }
  if (crew == nullptr) return false;
  MemoryAttempt attempt(*this, task, stop);
  End(*crew, task, RunHandler(crew->handler, task, attempt), released);
  return true;
}

MemoryCrewPtr MemoryState::Lease(const std::set<int64_t>& released, LeasedTask& task,
                                 std::stop_token& stop) {
  for (size_t i = 0; i < crews_.size(); ++i) {
    const size_t index = (next_crew_ + i) % crews_.size();
    const MemoryCrewPtr& crew = crews_[index];
    if (crew->HasReachedItsNumber()) continue;
    MemoryTask* const ready = store.NextReady(crew->options.queues, released);
    if (ready == nullptr) continue;
    next_crew_ = index + 1;
    ++crew->taken;
    const std::string& name = crew->options.name;
    task = store.LeaseTo(*ready, crew->id, name.empty() ? crew->id : name, absl::InfiniteFuture());
    stop = ready->stop.get_token();
    running_ = crew;
    running_stop_ = ready->stop;
    return crew;
  }
  return nullptr;
}

SettleResult MemoryState::Settle(const LeasedTask& task, const Result& result) {
  std::vector<SettleItem> items;
  if (result.kind() == Result::Kind::kDone) {
    items.emplace_back(ToAckItem(task, result, /*has_codec=*/false));
  } else {
    items.emplace_back(ToNackItem(task, result));
  }
  const std::lock_guard<std::mutex> lock(mutex);
  return std::move(store.Settle(items)->front());
}

// As a Worker does: what cannot be acked has failed.
void MemoryState::End(MemoryCrew& crew, const LeasedTask& task, Result result,
                      std::set<int64_t>& released) {
  {
    const std::lock_guard<std::mutex> lock(mutex);
    running_ = nullptr;
    if (crew.was_asked_to_stop && result.kind() != Result::Kind::kDone) result = Result::Release();
  }
  SettleResult settled = Settle(task, result);
  if (settled.outcome == SettleOutcome::kRefused) {
    crew.tally.Error(settled.refusal);
    result = FromRefusal(settled.refusal);
    settled = Settle(task, result);
  }
  if (result.kind() == Result::Kind::kRelease) {
    const std::lock_guard<std::mutex> lock(mutex);
    released.insert((*store.Find(task.task_id))->number);
  }
  crew.tally.Ended(task, EndOf(result.kind(), settled));
}

MemoryCrewPtr MemoryState::AddCrew(WorkerOptions options, Handler handler) {
  const std::lock_guard<std::mutex> lock(mutex);
  const std::string id = absl::StrCat("worker-", ++crews_begun_);
  auto crew = std::make_shared<MemoryCrew>(id, std::move(options), std::move(handler));
  crews_.push_back(crew);
  return crew;
}

void MemoryState::Stop(const MemoryCrewPtr& crew) {
  {
    const std::lock_guard<std::mutex> lock(mutex);
    if (crew->is_stopped) return;
    crew->is_stopped = true;
    crew->grace_end = std::min(crew->grace_end, store.now() + crew->options.stop_grace);
    std::erase(crews_, crew);
  }
  AskToStop();
}

void MemoryState::EndGrace(const MemoryCrewPtr& crew) {
  {
    const std::lock_guard<std::mutex> lock(mutex);
    crew->grace_end = absl::InfinitePast();
  }
  AskToStop();
}

void MemoryState::Advance(absl::Duration duration) {
  {
    const std::lock_guard<std::mutex> lock(mutex);
    store.Advance(duration);
  }
  AskToStop();
}

void MemoryState::AskToStop() {
  std::unique_lock<std::mutex> lock(mutex);
  if (running_ == nullptr || !running_->is_stopped || store.now() < running_->grace_end) return;
  running_->was_asked_to_stop = true;
  std::stop_source stop = running_stop_;
  lock.unlock();
  stop.request_stop();  // it calls what the handler registered
}

void MemoryState::StopAll() {
  const std::lock_guard<std::mutex> lock(mutex);
  for (const MemoryCrewPtr& crew : crews_) crew->is_stopped = true;
  crews_.clear();
}

}  // namespace skiplane::internal
