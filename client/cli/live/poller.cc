#include "client/cli/live/poller.h"

#include <cmath>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "absl/time/clock.h"
#include "client/cli/command/show.h"

namespace skiplane::cli {

using internal::AdminMethods;

namespace {

// Means of a minute: more digits say nothing, and take the place of other columns.
double Rounded(double rate) { return std::round(rate * 100) / 100; }

void RoundRates(v1::QueueSummary& queue) {
  queue.set_enqueue_rate(Rounded(queue.enqueue_rate()));
  queue.set_success_rate(Rounded(queue.success_rate()));
  queue.set_failure_rate(Rounded(queue.failure_rate()));
}

}  // namespace

void Look(Session& session, Sight& sight) {
  std::vector<v1::QueueSummary> queues;
  sight.status = ForEach<v1::ListQueueSummariesRequest, v1::ListQueueSummariesResponse>(
      session, {}, &AdminMethods::ListQueueSummaries,
      [](const v1::ListQueueSummariesResponse& page) { return page.summaries(); },
      [&](const v1::QueueSummary& queue) { RoundRates(queues.emplace_back(queue)); }, /*limit=*/0);
  if (!sight.status.ok()) return;
  std::vector<v1::Worker> workers;
  sight.workers_status = ForEach<v1::ListWorkersRequest, v1::ListWorkersResponse>(
      session, {}, &AdminMethods::ListWorkers,
      [](const v1::ListWorkersResponse& page) { return page.workers(); },
      [&](const v1::Worker& worker) { workers.push_back(worker); }, /*limit=*/0);
  sight.queues = std::move(queues);
  sight.workers = std::move(workers);
  sight.time = absl::Now();
}

// Shared, because a question may still be under way when the poller is gone.
struct Poller::State {
  State(const Session& asking, absl::Duration every, Interrupt& told)
      : session(asking), interval(every), interrupt(told) {}

  Session session;
  const absl::Duration interval;
  Interrupt& interrupt;
  std::mutex mutex{};
  std::condition_variable ended{};
  bool is_ended = false;
  Sight sight{};
};

Poller::Poller(const Session& session, absl::Duration interval, Interrupt& interrupt)
    : state_(std::make_shared<State>(session, interval, interrupt)) {
  std::thread([state = state_] { Run(state); }).detach();
}

Poller::~Poller() {
  const std::lock_guard lock(state_->mutex);
  state_->is_ended = true;
  state_->ended.notify_all();
}

Sight Poller::Last() const {
  const std::lock_guard lock(state_->mutex);
  return state_->sight;
}

void Poller::Run(const std::shared_ptr<State>& state) {
  std::unique_lock lock(state->mutex);
  while (!state->is_ended) {
    Sight sight = state->sight;
    lock.unlock();
    Look(state->session, sight);
    lock.lock();
    if (state->is_ended) return;
    state->sight = std::move(sight);
    state->interrupt.Wake();
    state->ended.wait_for(lock, absl::ToChronoNanoseconds(state->interval),
                          [&] { return state->is_ended; });
  }
}

}  // namespace skiplane::cli
