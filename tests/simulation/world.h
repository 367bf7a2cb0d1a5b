// A simulated installation: schedulers, tables, callers, and everything between them that takes
// time or fails. Plays one history; the same history gives the same run.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "tests/simulation/history.h"
#include "tests/simulation/judge.h"

namespace skiplane::simulation {

class World {
 public:
  // `trace`, if any, gets a line per event.
  explicit World(const History& history, std::ostream* trace = nullptr);

  // Returns what is broken; empty: nothing.
  std::string Play();

  int64_t events() const { return events_; }
  // Tasks that callers got.
  int64_t handed_out() const { return handed_out_; }

 private:
  using Event = std::function<void()>;
  using Run = std::shared_ptr<broker::LeaseRun>;

  struct Broker {
    std::unique_ptr<broker::Scheduler> scheduler;
    bool is_connected = true;
    bool is_listening = true;
    bool is_memory_full = false;
    bool is_drained = false;
  };

  // world.cc: inputs, callers, and what brokers hear.
  void Take(const Input& input);
  void Enqueue(const Input& input);
  void EnqueueAt(const Input& input);
  int64_t Insert(const Input& input, absl::Time schedule_time);
  void Call(const Input& input);
  void Pause(int queue, Span span);
  void Outage(int broker, Span span);
  void JumpClock(Span span);
  void Announce(int origin, const std::vector<int64_t>& ids) { Tell(origin, UnleasedOf(ids), ids); }
  store::UnleasedTasks UnleasedOf(const std::vector<int64_t>& ids) const;
  void Tell(int origin, const store::UnleasedTasks& unleased, const std::vector<int64_t>& ids);
  void Notify(int broker, const model::Notification& notification, std::vector<int64_t> ids);
  void Learn(int broker, const std::vector<int64_t>& ids);
  void LearnReady(int broker, const std::vector<store::Bound>& first_ready);
  void Forget(int64_t id);
  void Unhealthy(int broker) { known_[static_cast<size_t>(broker)].healthy_since = now_; }
  broker::TicketPtr Admit(int broker, broker::TicketPtr ticket);
  void NoteStates(int broker, const broker::Ticket& ticket);
  void Work(int broker, const broker::Ticket& ticket, const model::LeasedTask& task,
            bool may_lease);
  static broker::LeaseCall CallOf(const broker::Ticket& ticket);
  // It waits again: after a delay, or in the place that it had.
  void Free(int origin, int64_t id, int64_t lease_number, std::optional<Span> delay);

  // world_statements.cc: what schedulers want done.
  using SchedulerEvent = absl::FunctionRef<void(broker::Scheduler&, broker::Step&)>;
  std::vector<broker::Action> Do(int broker, SchedulerEvent event);
  void Perform(int broker, std::vector<broker::Action> actions);
  void Answered(int broker, broker::Answer& answer);
  void RunLease(int broker, LaneStage lane_stage);
  bool IsTaken(broker::LeaseRun& run);
  void Execute(int broker, const Run& run, const std::function<void(bool)>& ended);
  void Finish(int broker, const Run& run, const Taken& taken,
              const std::function<void(bool)>& ended);
  void EndLease(int broker, const Run& run, absl::StatusOr<store::Leased> leased);
  store::Leased Rows(const broker::LeaseRun& run, const std::vector<int64_t>& ids) const;
  void RunProbe(int broker, LaneStage lane_stage);
  void RunFind(int broker, const broker::TicketPtr& ticket);
  void AckAndLease(int broker, int64_t task, int64_t lease_number, const broker::Ticket& previous);

  // world_hand_off.cc
  bool MayHandOff(const Input& input);
  void EnqueueAndLease(const Input& input);
  void CommitHandOff(const Input& input, const Run& run);

  std::multiset<LaneStage>& ReservedAt(int broker) {
    return known_[static_cast<size_t>(broker)].reserved;
  }
  void EndReservation(int broker, const broker::LeaseRun& run) {
    ReservedAt(broker).erase(ReservedAt(broker).find(run.lane_stage));
  }

  // What happens at a broker, for the trace.
  template <typename... Parts>
  void Trace(int broker, const Parts&... parts) {
    if (trace_ == nullptr) return;
    const auto ms = (now_ - kBegin) / std::chrono::milliseconds(1);
    *trace_ << ms << " ms, broker " << broker << ": " << absl::StrCat(parts...) << "\n";
  }
  void TraceActions(int broker, const std::vector<broker::Action>& actions);
  // The same for each run: the order in which they came.
  int64_t NumberOf(const broker::TicketPtr& ticket) { return callers_[ticket.get()].number; }

  void After(Span delay, Event event);
  int Pick(int least, int most);
  bool Chance(int in_1000) { return Pick(1, 1000) <= in_1000; }
  Span Latency() { return Span(Pick(0, history_.slowest)); }
  // Mostly short, as slow ones put the next ones off: all probes share a budget.
  Span ProbeLatency() { return Span(Chance(50) ? Pick(0, 12) : 0); }
  Span RescanLatency() { return Span(Pick(history_.rescan / 2, history_.rescan)); }
  absl::Time DatabaseNow() const;
  broker::Scheduler& SchedulerOf(int broker) {
    return *brokers_[static_cast<size_t>(broker)].scheduler;
  }
  LaneStage LaneStageOf(int number) const;
  broker::QueuePtr QueueOf(LaneStage lane_stage) const;

  static constexpr int kGathersFinds = 100;  // ms that a look may wait for others
  static constexpr base::SteadyTime kBegin{std::chrono::hours(1)};

  const History history_;
  std::ostream* const trace_;
  std::mt19937_64 random_;
  base::SteadyTime now_ = kBegin;
  int clock_jumps_ = 0;
  absl::Duration clock_;  // the database's, by how much it jumped
  std::multimap<base::SteadyTime, Event> events_due_;
  int64_t events_ = 0;
  int64_t handed_out_ = 0;
  Tables tables_;
  Judge judge_;
  std::vector<Broker> brokers_;
  std::vector<Knowledge> known_;
  std::vector<std::shared_ptr<model::Queue>> queues_;
  std::map<const broker::Ticket*, Caller> callers_;
  std::vector<Caller*> waiting_;  // admitted and not answered, in the order in which they came
  std::map<int, broker::TicketPtr> calls_;  // by their number
  int64_t last_number_ = 0;
  int64_t last_turn_ = 0;
};

}  // namespace skiplane::simulation
