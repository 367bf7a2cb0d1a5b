// Every metric of the broker, declared once, as plain verbs. The names, labels and help texts are
// in the classes behind it (*_metrics.cc) and docs/METRICS.md; only this room uses prometheus-cpp.
//
// Thread-safe; the verbs cost tens of nanoseconds once a label set is known. A scrape reads
// what is in memory and never touches the database. Queue labels are capped: beyond 1,000 names
// the rest is counted as queue="__other__".
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace skiplane::metrics {

struct QueueGauges {
  int64_t scheduled = 0;
  int64_t ready = 0;
  int64_t leased = 0;
  absl::Duration oldest_ready_age{};  // zero when nothing is ready
  int pause_mode = 0;               // bits: 1 leases, 2 enqueues
};

class Metrics {
 public:
  Metrics(absl::string_view version, absl::string_view commit);
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  // Flow of tasks. `result`: created | existing. `kind`: first | retry.
  void Enqueued(absl::string_view queue, absl::string_view result, int64_t tasks);
  void Leased(absl::string_view queue, absl::string_view kind, int64_t tasks);
  // One finished attempt. `outcome`: acked | retried | released | failed | lost.
  void AttemptEnded(absl::string_view queue, absl::string_view outcome, int64_t tasks);
  // `outcome`: succeeded | failed.
  void Finished(absl::string_view queue, absl::string_view outcome, int64_t tasks);
  // Late acks and nacks that the fence refused. `rpc`: Ack | Nack | Heartbeat.
  void StaleLeaseRefused(absl::string_view rpc, int64_t items);
  // Leases whose caller had vanished and that were handed back.
  void OrphanLeasesReleased(int64_t tasks);
  void SessionsLost(int64_t sessions);

  // State, set from samples.
  void SetQueue(absl::string_view queue, const QueueGauges& gauges);
  void RemoveQueue(absl::string_view queue);
  void SetWaitingLeases(absl::string_view queue, int64_t calls);
  void SetWorkers(int64_t alive);
  void SetDraining(bool draining);
  void SetLeader(bool leader);

  // Batches: rows of one statement of `operation` (enqueue | lease | ack | nack | heartbeat).
  void Batch(absl::string_view operation, int64_t rows);
  // Time from commit to the hand-over of a task to a waiting caller's RPC is not measured here;
  // this is the time a task waited from its run time to its lease.
  void QueueWait(absl::string_view queue, absl::Duration wait);
  // From the planned time of a periodic task to the first lease for it.
  void ScheduleLag(absl::string_view queue, absl::Duration lag);

  // RPC and database. `status` is gRPC's name of the code, for example "OK".
  void RpcStarted(absl::string_view method);
  void RpcEnded(absl::string_view method, absl::string_view status, absl::Duration duration);
  // Connections of callers: open ones, and how many may be.
  void SetConnections(int64_t open, int64_t max);
  void ConnectionRefused();
  void AcceptFailed();
  void SetPortAnswers(bool answers);
  void Statement(absl::string_view name, absl::Duration duration);
  void DatabaseError(absl::string_view sqlstate_class);
  void SetPool(int64_t connections, int64_t idle, int64_t waiting_jobs);
  void Notification(absl::string_view result);  // sent | received
  // Why no connection of the pool works, as a reason of error_reason.proto; empty: one does.
  void SetDatabaseOutage(absl::string_view reason);
  // The database's clock went back by so much.
  void ClockStep(absl::Duration back);
  void Chore(absl::string_view name, absl::Duration duration, bool ok);

  // The page, in Prometheus' text format.
  std::string Text() const;

  // Serves GET /metrics on `address` ("127.0.0.1:9464"; port 0 takes a free one).
  absl::Status Serve(absl::string_view address);
  // The port that Serve took; 0 before.
  int port() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace skiplane::metrics
