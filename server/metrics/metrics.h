// Every metric of the broker, declared once, as plain verbs. The names, labels and help texts are
// in the classes behind it (*_metrics.cc) and docs/METRICS.md; only this room uses prometheus-cpp.
//
// Thread-safe; the verbs cost tens of nanoseconds once a label set is known. A scrape reads
// what is in memory and never touches the database. Queue labels are capped: beyond kQueuesMax
// names the rest is counted as queue="__other__".
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"

namespace skiplane::metrics {

// That have series of their own: about 55 each when they are in use, 4 MB of a page.
inline constexpr size_t kQueuesMax = 1000;

struct TaskGauges {
  int64_t scheduled = 0;
  int64_t ready = 0;
  int64_t leased = 0;
};

struct QueueGauges {
  int64_t scheduled = 0;
  int64_t ready = 0;
  int64_t leased = 0;
  absl::Duration oldest_ready_age{};           // zero when nothing is ready
  int pause_mode = 0;                          // bits: 1 leases, 2 enqueues
  absl::Duration oldest_attempt_age{};         // zero when nothing is leased
  int64_t dead_letters = 0;
  std::map<std::string, TaskGauges> stages{};  // by name; none of a queue without stages
};

struct TableGauges {
  int64_t row_bytes = 0;
  int64_t toast_bytes = 0;
  int64_t index_bytes = 0;
  int64_t dead_rows = 0;
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
  // Late settlements that the fence refused. `call`: ack | nack | settle | heartbeat.
  void LeaseLost(absl::string_view call, int64_t items);
  // Leases whose caller had vanished and that were handed back.
  void OrphanLeasesReleased(int64_t tasks);
  // Leased by the statements that made them.
  void HandedOff(int64_t tasks);
  void SessionsLost(int64_t sessions);

  // Queues whose names match one of these patterns (* and ?) have names of their own before others.
  // To be called before all else.
  void PinQueues(std::vector<std::string> patterns);
  // Of these the pinned ones and then the first have names of their own, kQueuesMax together; all
  // others share one. Until the first call, the first that appear have names.
  void NameQueues(const std::vector<std::string>& names);

  // State, set from samples.
  void SetQueue(absl::string_view queue, const QueueGauges& gauges);
  void RemoveQueue(absl::string_view queue);
  void SetWaitingLeases(absl::string_view queue, int64_t calls);
  void SetWorkers(int64_t alive);
  void SetAwaitingCalls(int64_t calls);
  // So many more streams of this kind are open, or so many more tasks they take; negative: fewer.
  void AddStreams(absl::string_view kind, int64_t more);
  void AddStreamCredit(int64_t more);
  void SetAwaitedByPeers(int64_t tasks);
  void SetDraining(bool draining);
  void SetReloaded(bool succeeded);
  // When the certificate that callers are shown ends.
  void SetCertificateExpiry(absl::Time time);
  void SetLeader(bool leader);
  void SetReady(bool ready);
  void SetDatabaseUp(bool up);
  void SetTable(absl::string_view table, const TableGauges& gauges);
  void SetDatabaseBytes(int64_t bytes);

  // Batches: rows of one statement of `operation` (enqueue | lease | ack | nack | heartbeat).
  void Batch(absl::string_view operation, int64_t rows);
  // Time from commit to the hand-over of a task to a waiting caller's RPC is not measured here;
  // this is the time a task waited from its schedule time to its lease.
  void QueueWait(absl::string_view queue, absl::Duration wait);
  // Of attempts that their workers settled: from their lease to that.
  void RunTimes(absl::string_view queue, absl::Span<const absl::Duration> times);
  // From the planned time of a periodic task to the first lease for it.
  void ScheduleLag(absl::string_view queue, absl::Duration lag);

  // RPC and database. `status` is gRPC's name of the code, for example "OK".
  void RpcStarted(absl::string_view method);
  void RpcEnded(absl::string_view method, absl::string_view status, absl::Duration duration);
  // A call was refused as RESOURCE_EXHAUSTED. `reason`: one of the API's.
  void RpcExhausted(absl::string_view reason);
  // Connections of callers, by `port` (grpc | http | metrics): open ones, and how many may be.
  void SetConnections(absl::string_view port, int64_t open, int64_t max);
  void ConnectionRefused(absl::string_view port);
  void ConnectionCut(absl::string_view reason);
  void AcceptFailed(absl::string_view port);
  // A request that reached no service. `reason`: see METRICS.md.
  void HttpRefused(absl::string_view reason);
  // So many more bytes of bodies are held; negative: fewer.
  void HttpBodyHeld(int64_t bytes);
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

  // The page was sent, as so many bytes; that took so long.
  void Scraped(int64_t bytes, absl::Duration duration);

  // The page, in Prometheus' text format.
  std::string Text() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace skiplane::metrics
