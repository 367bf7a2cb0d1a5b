#include "server/upkeep/upkeep.h"

#include <atomic>
#include <chrono>
#include <thread>
#include <utility>

#include "server/base/log.h"
#include "server/base/mutex.h"
#include "server/base/reason.h"
#include "server/base/status_macros.h"
#include "server/pg/backoff.h"
#include "server/pg/requirements.h"
#include "server/upkeep/chores.h"
#include "server/upkeep/mark_keeper.h"
#include "server/upkeep/vacuum_thread.h"

namespace skiplane::upkeep {
namespace {

// What a pass is at may take so long when the broker ends.
constexpr absl::Duration kStopWithin = absl::Seconds(3);

}  // namespace

struct Upkeep::State {
  using Clock = std::chrono::steady_clock;

  State(UpkeepOptions its_options, metrics::Metrics* its_metrics)
      : options(std::move(its_options)),
        metrics(its_metrics),
        keeper(options.connect, options.broker_id),
        chores(options.broker_id, its_metrics, &keeper),
        vacuum({options.connect, options.vacuum_interval, options.vacuum},
               [this] { return is_leader.load(); }, its_metrics) {}

  void Loop();
  absl::Status Connect();
  void Use(std::unique_ptr<pg::Session> other);
  // Connects if need be and runs one pass; returns when the next one is due.
  Clock::time_point Pass();
  // Waits; returns false when the thread shall end.
  bool WaitUntil(Clock::time_point time);

  const UpkeepOptions options;
  metrics::Metrics* const metrics;

  MarkKeeper keeper;
  // The thread's own.
  Chores chores;
  pg::Backoff backoff;
  std::unique_ptr<pg::Session> session;  // changed under the mutex, as Stop() looks at it
  bool cannot_connect = false;

  std::atomic<bool> is_leader = false;
  VacuumThread vacuum;

  base::Mutex mutex;
  base::CondVar changed;
  bool stopping ABSL_GUARDED_BY(mutex) = false;

  base::Mutex thread_mutex;  // lets two callers of Stop() both wait for the thread
  std::thread thread ABSL_GUARDED_BY(thread_mutex);
};

void Upkeep::State::Loop() {
  Clock::time_point next{};
  do {
    next = Pass();
    is_leader = chores.is_leader();
  } while (WaitUntil(next));
  is_leader = false;
  if (session != nullptr && session->alive()) chores.Resign(*session);
  Use(nullptr);
}

absl::Status Upkeep::State::Connect() {
  ASSIGN_OR_RETURN(auto opened, pg::Session::Open(options.connect, metrics));
  RETURN_IF_ERROR(pg::CheckNotShared(options.connect, *opened));
  Use(std::move(opened));
  return absl::OkStatus();
}

void Upkeep::State::Use(std::unique_ptr<pg::Session> other) {
  base::MutexLock lock(mutex);
  session = std::move(other);
  if (session != nullptr && stopping) session->EndWithin(kStopWithin);
}

Upkeep::State::Clock::time_point Upkeep::State::Pass() {
  const Clock::time_point start = Clock::now();
  if (session != nullptr) static_cast<void>(session->Recheck());  // if that fails it is not alive
  if (session == nullptr || !session->alive()) {
    if (session != nullptr) chores.NoteCutOff();  // also when it broke between two passes
    Use(nullptr);
    if (absl::Status status = Connect(); !status.ok()) {
      chores.NoteCutOff();
      if (!std::exchange(cannot_connect, true)) {
        base::Log(base::LogLevel::kWarn, "upkeep_cut_off",
                  {{"broker", options.broker_name},
                   {"reason", base::ReasonOf(status)},
                   {"message", std::string(status.message())}});
      }
      return Clock::now() + backoff.Next();
    }
    backoff.Reset();
    if (std::exchange(cannot_connect, false)) {
      base::Log(base::LogLevel::kInfo, "upkeep_reconnected");
    }
  }
  const bool is_urgent = chores.RunPass(*session);
  if (chores.is_cut_off()) Use(nullptr);  // it may live, on a server that cannot write
  return is_urgent ? start : start + absl::ToChronoNanoseconds(options.pass_interval);
}

bool Upkeep::State::WaitUntil(Clock::time_point time) {
  base::MutexLock lock(mutex);
  while (!stopping && Clock::now() < time) changed.WaitUntil(mutex, time);
  return !stopping;
}

Upkeep::Upkeep(UpkeepOptions options, metrics::Metrics* metrics)
    : state_(std::make_unique<State>(std::move(options), metrics)) {}

Upkeep::~Upkeep() { Stop(); }

void Upkeep::Start() {
  base::MutexLock lock(state_->thread_mutex);
  if (state_->thread.joinable()) return;
  {
    base::MutexLock state_lock(state_->mutex);
    state_->stopping = false;
  }
  state_->thread = std::thread([state = state_.get()] { state->Loop(); });
  state_->keeper.Start();
  state_->vacuum.Start();
}

void Upkeep::Stop() {
  base::MutexLock lock(state_->thread_mutex);
  if (!state_->thread.joinable()) return;
  {
    base::MutexLock state_lock(state_->mutex);
    state_->stopping = true;
    if (state_->session != nullptr) state_->session->EndWithin(kStopWithin);
    state_->changed.NotifyAll();
  }
  state_->keeper.Stop();
  state_->vacuum.Stop();
  state_->thread.join();
}

}  // namespace skiplane::upkeep
