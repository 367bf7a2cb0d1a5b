#include "tests/bench/load/flow.h"

#include <chrono>
#include <future>
#include <memory>
#include <utility>
#include <vector>

#include "absl/time/clock.h"

namespace skiplane::bench {

Flow::Flow(absl::Duration interval) : interval_(interval), planned_(absl::Now()) {
  clock_ = std::thread([this] { RunClock(); });
}

bool Flow::IsTurn() const {
  return is_over_ || (interval_ ? planned_ <= absl::Now() : tasks_ < waiting_most_);
}

void Flow::Turn(int64_t tasks, Begin begin) {
  std::unique_lock<std::mutex> lock(mutex_);
  if (!IsTurn()) {
    producers_.push_back({.tasks = tasks, .begin = std::move(begin)});
    changed_.notify_all();
    return;
  }
  const auto turn = TakeTurn(tasks);
  lock.unlock();
  begin(turn);
}

std::optional<absl::Time> Flow::WaitForTurn(int64_t tasks) {
  // Whoever gives the turn may be later done with it than who gets it.
  const auto turn = std::make_shared<std::promise<std::optional<absl::Time>>>();
  Turn(tasks, [turn](std::optional<absl::Time> planned) { turn->set_value(planned); });
  return turn->get_future().get();
}

void Flow::Took(int64_t tasks) {
  std::unique_lock<std::mutex> lock(mutex_);
  tasks_ -= tasks;
  Release(std::move(lock));
}

void Flow::Stop() {
  std::unique_lock<std::mutex> lock(mutex_);
  is_over_ = true;
  changed_.notify_all();
  Release(std::move(lock));
  if (clock_.joinable()) clock_.join();
}

std::optional<absl::Time> Flow::TakeTurn(int64_t tasks) {
  if (is_over_) return std::nullopt;
  tasks_ += tasks;
  if (!interval_) return absl::Now();
  return std::exchange(planned_, planned_ + *interval_);
}

void Flow::Release(std::unique_lock<std::mutex> lock) {
  std::vector<std::pair<Begin, std::optional<absl::Time>>> turns;
  while (!producers_.empty() && IsTurn()) {
    const auto turn = TakeTurn(producers_.front().tasks);
    turns.emplace_back(std::move(producers_.front().begin), turn);
    producers_.pop_front();
  }
  lock.unlock();
  for (const auto& [begin, turn] : turns) begin(turn);
}

void Flow::RunClock() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!is_over_) {
    if (producers_.empty()) {
      changed_.wait(lock);
    } else if (!IsTurn()) {
      changed_.wait_for(lock, absl::ToChronoNanoseconds(planned_ - absl::Now()));
    } else {
      Release(std::move(lock));
      lock = std::unique_lock<std::mutex>(mutex_);
    }
  }
}

}  // namespace skiplane::bench
