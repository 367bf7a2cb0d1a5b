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

// Whoever comes after the chore waits for as long as it does.
constexpr absl::Duration kLockTimeout = absl::Milliseconds(20);
constexpr std::chrono::milliseconds kCancelAgainAfter(200);
// A command that nobody could cancel by then is left to PostgreSQL: the broker shall end.
constexpr absl::Duration kCutAfter = absl::Seconds(2);

// Asks PostgreSQL once to stop what that backend does. Ends soon also when nobody answers.
void Cancel(const pg::ConnectOptions& connect, int backend_pid) {
  pg::ConnectOptions options = connect;
  options.connect_timeout = kCutAfter;
  options.statement_timeout = absl::Seconds(1);
  options.tcp_user_timeout = absl::Seconds(1);
  options.abandoned = nullptr;  // this one commits nothing
  const auto session = pg::Session::Open(options, nullptr);
  if (session.ok()) static_cast<void>(store::CancelGiveBack(**session, backend_pid));
}

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
  // Notes whose command Stop() has to end; null: nobody's. Returns false when the thread shall end.
  bool Enter(pg::Session* its_session);
  // Returns whether the thread is done.
  bool CancelAndWait();

  const VacuumThreadOptions options;
  absl::AnyInvocable<bool()> is_due;
  Vacuum vacuum;
  ChoreLog log;

  base::Mutex mutex;
  base::CondVar changed;
  bool stopping ABSL_GUARDED_BY(mutex) = false;
  bool running ABSL_GUARDED_BY(mutex) = false;
  pg::Session* session ABSL_GUARDED_BY(mutex) = nullptr;

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
  connect.lock_timeout = kLockTimeout;
  ASSIGN_OR_RETURN(const std::unique_ptr<pg::Session> opened,
                   pg::Session::Open(connect, nullptr));
  absl::Status status;
  if (Enter(opened.get())) status = vacuum.RunOnce(*opened).status();
  const bool was_stopped = !Enter(nullptr);
  if (!was_stopped) RETURN_IF_ERROR(status);
  return true;
}

bool VacuumThread::State::Pause() {
  const auto end = Clock::now() + absl::ToChronoNanoseconds(options.interval);
  base::MutexLock lock(mutex);
  while (!stopping && Clock::now() < end) changed.WaitUntil(mutex, end);
  return !stopping;
}

bool VacuumThread::State::Enter(pg::Session* its_session) {
  base::MutexLock lock(mutex);
  session = its_session;
  return !stopping;
}

bool VacuumThread::State::CancelAndWait() {
  int pid = 0;
  {
    base::MutexLock lock(mutex);
    if (session != nullptr) pid = session->backend_pid();
  }
  // It may come just before the command begins: then the next one meets it.
  if (pid != 0) Cancel(options.connect, pid);
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
  {
    base::MutexLock state_lock(state_->mutex);
    state_->stopping = true;
    state_->changed.NotifyAll();
    if (state_->session != nullptr) state_->session->EndWithin(kCutAfter);
  }
  while (!state_->CancelAndWait()) continue;
  state_->thread.join();
}

}  // namespace skiplane::upkeep
