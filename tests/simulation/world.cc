#include "tests/simulation/world.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "server/model/limits.h"

namespace skiplane::simulation {
namespace {

using broker::Step;
using broker::Ticket;
using broker::TicketPtr;
using Kind = Input::Kind;

constexpr std::chrono::milliseconds kJudgeEvery(250);
constexpr std::chrono::seconds kLastLease(20);  // with an ack
constexpr std::chrono::seconds kLast(30);       // by then each wait is over
constexpr int kWaitingMax = 40;

}  // namespace

World::World(const History& history, std::ostream* trace)
    : history_(history),
      trace_(trace),
      random_(history.seed ^ 0x5eed ^ (history.luck << 32)),
      judge_(tables_, /*finds_missed=*/history.rescan == 0, history.slowest) {
  int64_t lane = 0;
  for (int q = 0; q < history_.queues; ++q) {
    auto queue = std::make_shared<model::Queue>();
    queue->name = absl::StrCat("q", q);
    queue->version = 1;
    for (int i = 0; i < history_.lanes_each; ++i) queue->lanes.push_back(++lane);
    for (int i = 1; i < history_.stages_each; ++i) queue->settings.stages.resize(2);
    queues_.push_back(std::move(queue));
  }
  known_.resize(static_cast<size_t>(history_.brokers));
  for (int b = 0; b < history_.brokers; ++b) {
    brokers_.emplace_back().scheduler =
        std::make_unique<broker::Scheduler>(broker::WaitingLimits{kWaitingMax});
    Do(b, [](broker::Scheduler& scheduler, Step& step) { scheduler.SetListening(true, step); });
    Unhealthy(b);
  }
  for (const Input& input : history_.inputs) {
    After(input.at, [this, &input] { Take(input); });
  }
}

std::string World::Play() {
  const base::SteadyTime last = now_ + kLast;
  base::SteadyTime judged = now_;
  while (!judge_.is_broken()) {
    base::SteadyTime next = events_due_.empty() ? last : events_due_.begin()->first;
    int waking = -1;
    for (int b = 0; b < history_.brokers; ++b) {
      if (SchedulerOf(b).NextWake() >= next) continue;
      next = SchedulerOf(b).NextWake();
      waking = b;
    }
    if (next >= last) break;
    now_ = std::max(now_, next);
    ++events_;
    if (waking >= 0) {
      Perform(waking, Do(waking, [](broker::Scheduler& s, Step& step) { s.Tick(step); }));
    } else {
      auto due = events_due_.extract(events_due_.begin());
      due.mapped()();
    }
    if (events_ > 200000) judge_.Break("it does not come to rest");
    if (now_ - judged < kJudgeEvery) continue;
    judged = now_;
    judge_.Waiting(waiting_, known_, DatabaseNow(), now_);
  }
  judge_.End(callers_);
  return judge_.verdict();
}

void World::Take(const Input& input) {
  Trace(input.broker, Print(input));
  Broker& broker = brokers_[static_cast<size_t>(std::max(0, input.broker))];
  switch (input.kind) {
    case Kind::kEnqueue: return Enqueue(input);
    case Kind::kCall: return Call(input);
    case Kind::kCancel:
      if (const auto found = calls_.find(input.number); found != calls_.end()) {
        const TicketPtr ticket = found->second;
        const int b = callers_.at(ticket.get()).broker;
        callers_.at(ticket.get()).is_gone = true;
        Perform(b, Do(b, [&](auto& scheduler, Step& step) { scheduler.Cancel(ticket, step); }));
      }
      return;
    case Kind::kPause: return Pause(input.what, input.span);
    case Kind::kOutage: return Outage(input.broker, input.span);
    case Kind::kDeaf: {
      const auto listen = [this, b = input.broker](bool listening) {
        brokers_[static_cast<size_t>(b)].is_listening = listening;
        Perform(b, Do(b, [&](auto& s, Step& step) { s.SetListening(listening, step); }));
      };
      listen(false);
      return After(input.span, [listen] { listen(true); });
    }
    case Kind::kMemoryFull:
      broker.is_memory_full = true;
      return After(input.span, [this, b = input.broker] {
        brokers_[static_cast<size_t>(b)].is_memory_full = false;
        Unhealthy(b);
        Perform(b, Do(b, [](auto& s, Step& step) { s.MemoryFreed(step); }));
      });
    case Kind::kClock: return JumpClock(input.span);
    case Kind::kDrain:
      broker.is_drained = true;
      Perform(input.broker, Do(input.broker, [](auto& s, Step& step) { s.BeginDrain(step); }));
  }
}

void World::Enqueue(const Input& input) {
  MayHandOff(input) ? EnqueueAndLease(input) : EnqueueAt(input);
}

int64_t World::Insert(const Input& input, absl::Time schedule_time) {
  return tables_.Insert(LaneStageOf(input.what), static_cast<int16_t>(input.priority),
                        schedule_time, now_);
}

void World::EnqueueAt(const Input& input) {
  // It is committed some time after it was given its schedule time.
  const Span committing = input.span.count() > 0 ? Span(0) : Latency();
  const absl::Time schedule_time = DatabaseNow() + absl::FromChrono(input.span - committing);
  std::vector<int64_t> ids;
  for (int i = 0; i < input.count; ++i) ids.push_back(Insert(input, schedule_time));
  const bool may_pack = input.count >= model::kPackTasksLeast && input.span.count() == 0;
  if (may_pack && Chance(history_.packing)) tables_.Pack(ids);
  Announce(input.broker, ids);
}

void World::Call(const Input& input) {
  auto ticket = std::make_shared<Ticket>();
  ticket->call.max_tasks = input.count;
  ticket->call.max_bytes = 1 << 20;
  ticket->waits = input.span.count() > 0;
  ticket->deadline = now_ + input.span;
  ticket->call.wait = absl::FromChrono(input.span);
  ticket->call.last_look = ticket->call.wait / 4;
  if (input.request > 0) ticket->request_key = absl::StrCat("r", input.request);
  ticket->call.principal = absl::StrCat("p", input.principal);
  if (input.worker > 0) ticket->call.worker_id = absl::StrCat("w", input.worker);
  for (const int number : input.wanted) {
    const LaneStage lane_stage = LaneStageOf(number);
    ticket->wanted.push_back({lane_stage, QueueOf(lane_stage), ticket->wanted.size()});
    if (input.number % 4 == 0) ticket->most_of.push_back(1 + number % 2);
  }
  calls_[input.number] = Admit(input.broker, ticket);
}

TicketPtr World::Admit(int broker, TicketPtr ticket) {
  Trace(broker, "caller ", ++last_number_, " comes");
  for (Caller* other : waiting_) {
    const bool is_repeat = other->broker == broker && !ticket->request_key.empty() &&
                           other->ticket->request_key == ticket->request_key;
    other->is_repeated |= is_repeat;
  }
  Caller& caller = callers_[ticket.get()];
  caller = {.ticket = ticket, .broker = broker, .began = now_, .enlisted = now_,
            .number = last_number_, .turn = ++last_turn_};
  waiting_.push_back(&caller);
  auto actions = Do(broker, [&](auto& s, Step& step) { s.Admit(ticket, step); });
  NoteStates(broker, *ticket);
  Perform(broker, std::move(actions));
  return ticket;
}

void World::NoteStates(int broker, const Ticket& ticket) {
  for (const Ticket::Entry& entry : ticket.entries) {
    known_[static_cast<size_t>(broker)].states[entry.state->lane_stage] = entry.state;
  }
}

// Brokers hear of it one after the other, and of its end later than of it.
void World::Pause(int number, Span span) {
  const auto change = [this, number](model::PauseMode mode) {
    std::shared_ptr<model::Queue>& queue = queues_[static_cast<size_t>(number)];
    queue = std::make_shared<model::Queue>(*queue);
    queue->pause = mode;
    ++queue->version;
    for (int b = 0; b < history_.brokers; ++b) {
      After(Span(Pick(0, 9)), [this, b, known = broker::QueuePtr(queue)] {
        Perform(b, Do(b, [&](auto& s, Step& step) { s.QueueChanged(known, step); }));
      });
    }
    for (const int64_t lane : queue->lanes) {
      for (int16_t stage = 0; stage < queue->settings.StageCount(); ++stage) {
        if (mode == model::PauseMode::kNone) {
          judge_.Resumed({lane, stage}, now_);
        } else {
          judge_.Paused({lane, stage});
        }
      }
    }
  };
  change(model::PauseMode::kLease);
  After(span, [change] { change(model::PauseMode::kNone); });
}

void World::Outage(int broker, Span span) {
  const auto connect = [this, broker](bool is_connected) {
    Broker& its = brokers_[static_cast<size_t>(broker)];
    its.is_connected = is_connected;
    its.is_listening = is_connected;
    Unhealthy(broker);
    Perform(broker,
            Do(broker, [&](auto& s, Step& step) { s.SetListening(is_connected, step); }));
  };
  connect(false);
  After(span, [connect] { connect(true); });
}

void World::JumpClock(Span span) {
  const absl::Time was = DatabaseNow();
  clock_ += absl::FromChrono(span);
  ++clock_jumps_;
  tables_.MendDue(was, DatabaseNow());
  for (int b = 0; b < history_.brokers; ++b) {
    Unhealthy(b);
    known_[static_cast<size_t>(b)].tasks.clear();
  }
}

// As the commit says that makes or frees them.
store::UnleasedTasks World::UnleasedOf(const std::vector<int64_t>& ids) const {
  if (ids.empty()) return {};
  const Task& first = *tables_.Find(ids.front());
  const bool is_ready = first.schedule_time <= DatabaseNow();
  return {first.lane_stage.lane, first.lane_stage.stage,           first.priority,
          is_ready,              static_cast<int64_t>(ids.size()), first.schedule_time,
          first.pack != 0};
}

// The broker that committed knows at once; the others hear of it, or not.
void World::Tell(int origin, const store::UnleasedTasks& unleased,
                 const std::vector<int64_t>& ids) {
  if (unleased.count == 0) return;
  model::Notification notification;
  notification.lane = unleased.lane;
  notification.stage = unleased.stage;
  notification.priority = unleased.priority;
  notification.is_ready = unleased.is_ready;
  notification.count = unleased.count;
  notification.schedule_time = unleased.schedule_time;
  for (int b = 0; b < history_.brokers; ++b) {
    if (b == origin) continue;
    if (Chance(history_.lost)) {
      if (Chance(700)) continue;  // lost; else late
      After(Span(Pick(0, 3000)), [this, b, notification, ids] { Notify(b, notification, ids); });
    }
    After(Latency(), [this, b, notification, ids] { Notify(b, notification, ids); });
  }
  if (origin < 0) return;
  Trace(origin, "commits ", unleased.count, " tasks in lane ", notification.lane, ", stage ",
        notification.stage);
  Learn(origin, ids);
  Perform(origin, Do(origin, [&](auto& scheduler, Step& step) {
            scheduler.Committed({&unleased, 1}, DatabaseNow(), step);
          }));
}

void World::Notify(int broker, const model::Notification& notification, std::vector<int64_t> ids) {
  if (!brokers_[static_cast<size_t>(broker)].is_listening) return;
  // What became something else since is not what it speaks of; when others are due, a probe tells.
  std::erase_if(ids, [&](int64_t id) {
    const Task* const task = tables_.Find(id);
    return task == nullptr || task->is_leased ||
           task->schedule_time != notification.schedule_time ||
           !notification.is_ready;
  });
  Trace(broker, "hears of ", notification.count, " tasks in lane ", notification.lane, ", stage ",
        notification.stage);
  Learn(broker, ids);
  Perform(broker, Do(broker, [&](auto& s, Step& step) { s.Notified(notification, step); }));
}

// What a probe saw, but for what became something else since.
void World::LearnReady(int broker, const std::vector<store::Bound>& first_ready) {
  for (const store::Bound& ready : first_ready) {
    const Task* const task = tables_.Find(ready.id);
    if (task != nullptr && task->schedule_time == ready.schedule_time) Learn(broker, {ready.id});
  }
}

void World::Learn(int broker, const std::vector<int64_t>& ids) {
  for (const int64_t id : ids) {
    const Task* const task = tables_.Find(id);
    if (task == nullptr || task->is_leased || task->is_locked) continue;
    const auto due = now_ + std::max(std::chrono::nanoseconds(0),
                                     absl::ToChronoNanoseconds(
                                         task->schedule_time - DatabaseNow()));
    known_[static_cast<size_t>(broker)].tasks.try_emplace(id, due);
  }
}

void World::Forget(int64_t id) {
  for (Knowledge& known : known_) known.tasks.erase(id);
}

// The same once more.
broker::LeaseCall World::CallOf(const Ticket& ticket) {
  broker::LeaseCall call;
  call.principal = ticket.call.principal;
  call.worker_id = ticket.call.worker_id;
  call.max_tasks = ticket.call.max_tasks;
  call.max_bytes = ticket.call.max_bytes;
  call.wait = ticket.call.wait;
  return call;
}

// A worker is done, fails, or dies, by chance. Whoever is first to end a lease ends it.
void World::Work(int broker, const Ticket& ticket, const model::LeasedTask& task,
                 bool may_lease) {
  const int64_t id = task.token.task.id;
  const int64_t lease_number = task.token.lease_number;
  const Span span(Pick(1, 400));
  if (may_lease && Chance(history_.lease_next) && now_ < kBegin + kLastLease) {
    auto previous = std::make_shared<Ticket>();
    previous->call = CallOf(ticket);
    previous->waits = ticket.waits;
    previous->wanted = ticket.wanted;
    return After(span, [=, this] { AckAndLease(broker, id, lease_number, *previous); });
  }
  if (Chance(history_.dying)) {
    return After(Span(3000), [=, this] { Free(-1, id, lease_number, {}); });
  }
  if (Chance(history_.returned)) {
    std::optional<Span> delay;
    if (Chance(500)) delay = Span(Pick(0, 1) * 500);
    return After(span, [=, this] { Free(broker, id, lease_number, delay); });
  }
  After(span, [=, this] {
    const Task* const found = tables_.Find(id);
    if (found != nullptr && found->is_leased && found->lease_number == lease_number) {
      tables_.Delete(id);
    }
  });
}

void World::Free(int origin, int64_t id, int64_t lease_number, std::optional<Span> delay) {
  const Task* const task = tables_.Find(id);
  if (task == nullptr || !task->is_leased || task->lease_number != lease_number) return;
  absl::Time schedule_time = std::min(task->schedule_time, DatabaseNow());
  if (delay.has_value()) schedule_time = DatabaseNow() + absl::FromChrono(*delay);
  tables_.Free(id, schedule_time, now_);
  Announce(origin, {id});
}

void World::After(Span delay, Event event) { events_due_.emplace(now_ + delay, std::move(event)); }

int World::Pick(int least, int most) {
  return std::uniform_int_distribution<int>(least, most)(random_);
}

absl::Time World::DatabaseNow() const {
  return absl::UnixEpoch() + absl::FromChrono(now_.time_since_epoch()) + clock_;
}

LaneStage World::LaneStageOf(int number) const {
  return {number / history_.stages_each + 1, static_cast<int16_t>(number % history_.stages_each)};
}

broker::QueuePtr World::QueueOf(LaneStage lane_stage) const {
  return queues_[static_cast<size_t>((lane_stage.lane - 1) / history_.lanes_each)];
}

}  // namespace skiplane::simulation
