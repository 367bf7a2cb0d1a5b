#include "server/upkeep/vacuum_thread.h"

#include <chrono>
#include <thread>
#include <utility>

#include "server/base/mutex.h"
#include "server/base/status_macros.h"
#include "server/upkeep/chore_log.h"

namespace skiplane::upkeep {
namespace {

using Clock = std::chrono::steady_clock;

// A terabyte may take that long; whoever waits for a lock is let in all the while.
constexpr absl::Duration kStatementTimeout = absl::Minutes(30);
// Whoever comes after the chore waits for as long as it does.
constexpr absl::Duration kLockTimeout = absl::Milliseconds(20);
constexpr std::chrono::milliseconds kCancelAgainAfter(200);

}  // namespace

struct VacuumThread::State {
  State(VacuumThreadOptions its_options, absl::AnyInvocable<bool()> due, metrics::Metrics* metrics)
      : options(std::move(its_options)),
        is_due(std::move(due)),
        vacuum(options.vacuum),
        log(metrics) {}

  void Loop();
  absl::StatusOr<bool> RunOnce();
  // Waits; returns false when the thread shall end.
  bool Pause();
  // Notes whose command Stop() has to cancel; 0: nobody's. Returns false when the thread shall end.
  bool Enter(int pid);
  // Returns whether the thread is done.
  bool CancelAndWait(pg::Session* canceller);

  const VacuumThreadOptions options;
  absl::AnyInvocable<bool()> is_due;
  Vacuum vacuum;
  ChoreLog log;

  base::Mutex mutex;
  base::CondVar changed;
  bool stopping ABSL_GUARDED_BY(mutex) = false;
  bool running ABSL_GUARDED_BY(mutex) = false;
  int backend_pid ABSL_GUARDED_BY(mutex) = 0;

  base::Mutex thread_mutex;  // lets two callers of Stop() both wait for the thread
  std::thread thread ABSL_GUARDED_BY(thread_mutex);
};

void VacuumThread::State::Loop() {
  while (Pause()) {
    if (is_due()) log.Run("vacuum", [this] { return RunOnce(); });
  }
  base::MutexLock lock(mutex);
  running = false;
  changed.NotifyAll();
}

absl::StatusOr<bool> VacuumThread::State::RunOnce() {
  pg::ConnectOptions connect = options.connect;
  connect.statement_timeout = kStatementTimeout;
  connect.lock_timeout = kLockTimeout;
  ASSIGN_OR_RETURN(const std::unique_ptr<pg::Session> session,
                   pg::Session::Open(connect, nullptr));
  if (!Enter(session->backend_pid())) return true;
  const absl::Status status = vacuum.RunOnce(*session).status();
  const bool was_stopped = !Enter(0);
  if (!was_stopped) RETURN_IF_ERROR(status);
  return true;
}

bool VacuumThread::State::Pause() {
  const auto end = Clock::now() + absl::ToChronoNanoseconds(options.interval);
  base::MutexLock lock(mutex);
  while (!stopping && Clock::now() < end) changed.WaitUntil(mutex, end);
  return !stopping;
}

bool VacuumThread::State::Enter(int pid) {
  base::MutexLock lock(mutex);
  backend_pid = pid;
  return !stopping;
}

bool VacuumThread::State::CancelAndWait(pg::Session* canceller) {
  int pid = 0;
  {
    base::MutexLock lock(mutex);
    pid = backend_pid;
  }
  // It may come just before the command begins: then the next one meets it.
  if (pid != 0 && canceller != nullptr) {
    static_cast<void>(store::CancelGiveBack(*canceller, pid));
  }
  const auto end = Clock::now() + kCancelAgainAfter;
  base::MutexLock lock(mutex);
  while (running && Clock::now() < end) changed.WaitUntil(mutex, end);
  return !running;
}

VacuumThread::VacuumThread(VacuumThreadOptions options, absl::AnyInvocable<bool()> is_due,
                           metrics::Metrics* metrics)
    : state_(std::make_unique<State>(std::move(options), std::move(is_due), metrics)) {}

VacuumThread::~VacuumThread() { Stop(); }

void VacuumThread::Start() {
  base::MutexLock lock(state_->thread_mutex);
  if (state_->thread.joinable()) return;
  {
    base::MutexLock state_lock(state_->mutex);
    state_->stopping = false;
    state_->running = true;
  }
  state_->thread = std::thread([state = state_.get()] { state->Loop(); });
}

void VacuumThread::Stop() {
  base::MutexLock lock(state_->thread_mutex);
  if (!state_->thread.joinable()) return;
  int pid = 0;
  {
    base::MutexLock state_lock(state_->mutex);
    state_->stopping = true;
    state_->changed.NotifyAll();
    pid = state_->backend_pid;
  }
  std::unique_ptr<pg::Session> canceller;
  if (pid != 0) {
    auto opened = pg::Session::Open(state_->options.connect, nullptr);
    if (opened.ok()) canceller = *std::move(opened);
  }
  while (!state_->CancelAndWait(canceller.get())) continue;
  state_->thread.join();
}

}  // namespace skiplane::upkeep
