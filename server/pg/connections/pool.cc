#include "server/pg/connections/pool.h"

#include <chrono>
#include <optional>
#include <thread>
#include <vector>

#include "server/base/mutex.h"
#include "server/base/reason.h"
#include "server/metrics/metrics.h"
#include "server/pg/backoff.h"
#include "server/pg/connections/connector.h"
#include "server/pg/connections/job_queue.h"
#include "server/pg/connections/open_sessions.h"
#include "server/pg/errors.h"

namespace skiplane::pg {
namespace {

// How soon an idle thread notices that its connection is gone.
constexpr std::chrono::seconds kCheckInterval(1);
constexpr absl::Duration kStopWithin = absl::Seconds(5);

absl::Status Draining() {
  return base::Refuse(absl::StatusCode::kUnavailable, "BROKER_DRAINING",
                      "this broker is shutting down; nothing was changed");
}

}  // namespace

// Each worker thread owns a session and takes jobs only while that works. One more thread, the pool
// supervisor, has none: it fails the jobs that no worker can take soon, and reports changes in
// order.
struct Pool::State {
  explicit State(int connections) : queue(connections) {}
  void Work();
  void Supervise();

  std::unique_ptr<Session> Connect(Backoff& backoff);
  absl::StatusOr<std::unique_ptr<Session>> Open();
  bool ServeUntilBroken(Session& session);
  bool WaitForJob(JobQueue::Taken& taken);
  bool Push(Job& job, const JobOrder& order);
  void PutBack(JobQueue::Taken taken);
  bool Pause(std::chrono::milliseconds delay);
  void Report() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);

  bool IsFinished() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) { return stopping && queue.empty(); }
  // A first attempt, at the start or after a loss, is worth waiting for; the later ones are not.
  bool IsHopeless() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    return !refusal.ok() || (sessions.empty() && hopeful == 0);
  }
  bool IsConnected() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    return refusal.ok() && !sessions.empty();
  }
  const absl::Status& Outage() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    return refusal.ok() ? outage : refusal;
  }

  std::optional<Connector> connector;
  metrics::Metrics* metrics = nullptr;
  OnChange on_change;

  base::Mutex mutex;
  base::CondVar job_came;  // for idle workers
  base::CondVar changed;   // any other change; for the supervisor and for pausing workers
  JobQueue queue ABSL_GUARDED_BY(mutex);  // of threads with a session
  bool stopping ABSL_GUARDED_BY(mutex) = false;
  OpenSessions sessions ABSL_GUARDED_BY(mutex);
  int workers ABSL_GUARDED_BY(mutex) = 0;  // threads that have not ended
  int hopeful ABSL_GUARDED_BY(mutex) = 0;  // of them, those in a first attempt to connect
  absl::Status outage ABSL_GUARDED_BY(mutex) = NotConnected();  // why the last attempt failed
  // Sessions that work are of no use either, as a commit would not end.
  absl::Status refusal ABSL_GUARDED_BY(mutex);

  base::Mutex joining;
  std::vector<std::thread> threads ABSL_GUARDED_BY(joining);
};

void Pool::State::Report() {
  if (metrics == nullptr) return;
  metrics->SetPool(static_cast<int64_t>(sessions.size()), queue.idle(),
                   queue.size());
}

absl::StatusOr<std::unique_ptr<Session>> Pool::State::Open() {
  absl::StatusOr<std::unique_ptr<Session>> session = connector->Open([this] {
    base::MutexLock lock(mutex);
    return sessions.empty();
  });
  base::MutexLock lock(mutex);
  if (session.ok()) {
    sessions.Add(**session);
    Report();
  }
  return session;
}

// Returns null once the pool stops.
std::unique_ptr<Session> Pool::State::Connect(Backoff& backoff) {
  bool is_first = true;
  do {
    absl::StatusOr<std::unique_ptr<Session>> session = Open();
    base::MutexLock lock(mutex);
    if (is_first) --hopeful;
    if (!session.ok()) outage = session.status();
    const bool commits_wait = base::ReasonOf(session.status()) == "SYNCHRONOUS_STANDBY_AWAY";
    if (session.ok() || commits_wait) refusal = session.status();
    changed.NotifyAll();
    if (session.ok()) {
      job_came.NotifyAll();
      return *std::move(session);
    }
    is_first = false;
  } while (Pause(backoff.Next()));
  return nullptr;
}

// Returns false at once when the pool stops: what waits then is failed or left to other workers.
bool Pool::State::Pause(std::chrono::milliseconds delay) {
  const auto deadline = std::chrono::steady_clock::now() + delay;
  base::MutexLock lock(mutex);
  while (!stopping && std::chrono::steady_clock::now() < deadline) {
    changed.WaitUntil(mutex, deadline);
  }
  return !stopping;
}

// Returns false without a job when it is time to look after the session, or when all is done.
bool Pool::State::WaitForJob(JobQueue::Taken& taken) {
  const auto deadline = std::chrono::steady_clock::now() + kCheckInterval;
  base::MutexLock lock(mutex);
  queue.BeginIdle();
  while ((!queue.HasNext() || !refusal.ok()) && !stopping &&
         std::chrono::steady_clock::now() < deadline) {
    job_came.WaitUntil(mutex, deadline);
  }
  queue.EndIdle();
  const bool has_job = queue.HasNext(stopping) && refusal.ok();
  if (has_job) taken = queue.Take(stopping);
  Report();
  return has_job;
}

// Returns false, and leaves the job, when the pool stops.
bool Pool::State::Push(Job& job, const JobOrder& order) {
  base::MutexLock lock(mutex);
  if (stopping) return false;
  queue.Push(std::move(job), order);
  job_came.NotifyOne();
  if (IsHopeless()) changed.NotifyAll();
  // Whoever takes a job reports: nobody does while the database holds all of them up.
  if (!queue.HasSpare()) Report();
  return true;
}

void Pool::State::PutBack(JobQueue::Taken taken) {
  base::MutexLock lock(mutex);
  queue.PutBack(std::move(taken));
  job_came.NotifyOne();
}

// Returns whether the session worked at all; also when the pool is finished.
bool Pool::State::ServeUntilBroken(Session& session) {
  bool worked = false;
  Connector::Doubts known = connector->Known();
  while (session.alive()) {
    if (const absl::Status status = connector->Recheck(session, known); !status.ok()) {
      base::MutexLock lock(mutex);
      outage = status;
      break;
    }
    JobQueue::Taken taken;
    const bool has_job = WaitForJob(taken);
    if (has_job && !session.alive()) {
      PutBack(std::move(taken));
      break;
    }
    if (has_job) taken.job(&session);
    worked = true;
    base::MutexLock lock(mutex);
    queue.End(taken);
    if (queue.HasNext()) job_came.NotifyOne();  // its party's part held it back, maybe
    if (IsFinished()) break;
  }
  connector->GivenUp(session);
  return worked;
}

void Pool::State::Work() {
  Backoff backoff;
  while (std::unique_ptr<Session> session = Connect(backoff)) {
    const bool worked = ServeUntilBroken(*session);
    if (worked) backoff.Reset();
    {
      base::MutexLock lock(mutex);
      sessions.Remove(*session);
      if (IsFinished()) break;
      if (worked) ++hopeful;
      changed.NotifyAll();
      Report();
    }
    if (worked) continue;
    // A server that accepts and hangs up must not be asked in a tight loop.
    if (!Pause(backoff.Next())) break;
    base::MutexLock lock(mutex);
    ++hopeful;
  }
  base::MutexLock lock(mutex);
  --workers;
  changed.NotifyAll();
}

void Pool::State::Supervise() {
  bool reported = false;
  std::string told;  // the reason of the outage
  mutex.Lock();
  while (workers > 0 || !queue.empty()) {
    const bool connected = IsConnected();
    const std::string reason = connected ? "" : IsHopeless() ? base::ReasonOf(Outage()) : told;
    if (told != reason && !stopping) {
      told = reason;
      const absl::Status why = connected ? absl::OkStatus() : Outage();
      mutex.Unlock();
      connector->Tell(why);
      mutex.Lock();
    } else if (reported != connected && !stopping) {
      reported = connected;
      mutex.Unlock();
      if (on_change) on_change(connected);
      mutex.Lock();
    } else if (IsHopeless() && !queue.empty()) {
      Job job = queue.TakeToRefuse();
      const absl::Status why = Outage();
      mutex.Unlock();
      job(why);
      mutex.Lock();
    } else {
      changed.Wait(mutex);
    }
  }
  mutex.Unlock();
}

Pool::Pool(ConnectOptions options, int connections, metrics::Metrics* metrics, OnChange on_change)
    : state_(std::make_unique<State>(connections)) {
  state_->connector.emplace(std::move(options), metrics);
  state_->metrics = metrics;
  state_->on_change = std::move(on_change);
  {
    base::MutexLock lock(state_->mutex);
    state_->workers = connections;
    state_->hopeful = connections;
  }
  State* const state = state_.get();
  base::MutexLock lock(state->joining);
  state->threads.emplace_back([state] { state->Supervise(); });
  while (connections-- > 0) state->threads.emplace_back([state] { state->Work(); });
}

Pool::~Pool() { Stop(); }

void Pool::Submit(Job job, const JobOrder& order) {
  if (!state_->Push(job, order)) job(Draining());
}

bool Pool::connected() const {
  base::MutexLock lock(state_->mutex);
  return state_->IsConnected();
}

bool Pool::HasSpare() const ABSL_NO_THREAD_SAFETY_ANALYSIS { return state_->queue.HasSpare(); }
bool Pool::HasBacklog() const ABSL_NO_THREAD_SAFETY_ANALYSIS { return state_->queue.HasBacklog(); }

int Pool::waiting() const {
  base::MutexLock lock(state_->mutex);
  return state_->queue.size();
}

void Pool::EndWithin(absl::Duration rest) {
  base::MutexLock lock(state_->mutex);
  state_->sessions.EndWithin(rest);
}

void Pool::Stop() {
  EndWithin(kStopWithin);
  {
    base::MutexLock lock(state_->mutex);
    state_->stopping = true;
    state_->job_came.NotifyAll();
    state_->changed.NotifyAll();
  }
  // A second caller waits here until the first has joined.
  base::MutexLock lock(state_->joining);
  for (std::thread& thread : state_->threads) thread.join();
  state_->threads.clear();
}

}  // namespace skiplane::pg
