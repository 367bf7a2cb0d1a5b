// A few threads, each with one connection, that run jobs: those of one party in the order they were
// submitted, those of several in turn (job_queue.h).
//
// A job gets the thread's session, or the status that says why there is none (never both); it must
// not throw. While the database is away, jobs fail at once with DATABASE_UNAVAILABLE
// (DATABASE_READ_ONLY where only such a server is found) and the threads reconnect with a growing,
// jittered back-off (50 ms to 2 s), one attempt per thread at a time, also when no job comes. A
// connection that is lost is first replaced without a delay, and jobs wait for that attempt. A
// server that has become none for a broker (requirements.h) is noticed within 10 s, and left: then
// jobs get that reason. While commits wait for a synchronous standby no connection is replaced, and
// jobs get SYNCHRONOUS_STANDBY_AWAY, also where a connection works. The log tells when and why none
// can be used any more, and when one can.
// Thread-safe.
#pragma once

#include <memory>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "server/pg/connections/job_queue.h"
#include "server/pg/session.h"

namespace skiplane::pg {

class Pool {
 public:
  using Job = JobQueue::Job;
  // Called from a pool thread whenever the answer to "does any connection work" changes.
  using OnChange = absl::AnyInvocable<void(bool connected)>;

  // Connects in the background; the first jobs wait for the first attempt. `metrics` may be null.
  Pool(ConnectOptions options, int connections, metrics::Metrics* metrics, OnChange on_change);
  ~Pool();

  // After Stop() the refusal runs before this returns: hold no lock that the job takes.
  void Submit(Job job, const JobOrder& order = {});

  // Whether at least one connection works.
  bool connected() const;

  // Whether a connection would still be idle if one more job came now. A look, not a promise.
  bool HasSpare() const;

  // Whether jobs wait that no idle connection is about to take. A look, too.
  bool HasBacklog() const;

  // Jobs that wait for a thread.
  int waiting() const;

  // Breaks all connections, also later ones, when this has passed, give or take a second, so that
  // a server that does not answer holds nobody up: what is under way then fails.
  void EndWithin(absl::Duration rest);

  // Runs what was submitted before, for 5 s at most, refuses (BROKER_DRAINING) what comes after,
  // joins the threads. Idempotent.
  void Stop();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace skiplane::pg
