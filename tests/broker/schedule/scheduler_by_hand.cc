#include "tests/broker/schedule/scheduler_by_hand.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace skiplane::broker {
namespace {

std::string NameOf(const TicketPtr& ticket) { return ticket->call.worker_name; }

std::string Print(const Action& action) {
  if (const auto* lease = std::get_if<SendLease>(&action)) {
    return absl::StrCat("lease ", lease->lane_stage.lane);
  }
  if (const auto* probe = std::get_if<SendProbe>(&action)) {
    return absl::StrCat("probe ", probe->lane_stage.lane);
  }
  if (const auto* find = std::get_if<SendFind>(&action)) {
    return absl::StrCat("find ", NameOf(find->ticket), find->is_urgent ? "" : " later");
  }
  if (const auto* answer = std::get_if<Answer>(&action)) {
    const std::string what = answer->answer.ok()
                                 ? absl::StrCat(answer->answer->tasks.size(), " tasks")
                                 : absl::StatusCodeToString(answer->answer.status().code());
    return absl::StrCat("answer ", NameOf(answer->ticket), ": ", what);
  }
  if (const auto* decline = std::get_if<Decline>(&action)) {
    return absl::StrCat("decline ", NameOf(decline->ticket));
  }
  if (const auto* orphans = std::get_if<HandBack>(&action)) {
    return absl::StrCat("hand back ", orphans->tokens.size());
  }
  return absl::StrCat("held back ", std::get<TellHeldBack>(action).lane_stage.lane);
}

}  // namespace

std::string Print(const std::vector<Action>& actions) {
  return absl::StrJoin(actions, "; ", [](std::string* text, const Action& action) {
    absl::StrAppend(text, Print(action));
  });
}

SchedulerByHand::SchedulerByHand(WaitingLimits limits) : scheduler_(limits) {
  for (int64_t lane = 1; lane <= 3; ++lane) {
    auto queue = std::make_shared<model::Queue>();
    queue->name = absl::StrCat("q", lane);
    queue->lanes = {lane};
    queue->version = 1;
    queues_[lane] = std::move(queue);
  }
  Do([](Scheduler& scheduler, Step& step) { scheduler.SetListening(true, step); });
}

absl::Time SchedulerByHand::DatabaseNow() const {
  return absl::UnixEpoch() + absl::FromChrono(now_.time_since_epoch());
}

std::string SchedulerByHand::Do(Event event) {
  Step step{now_};
  step.has_spare = has_spare_;
  event(scheduler_, step);
  return Print(step.actions);
}

std::string SchedulerByHand::Pause(int64_t lane, bool is_paused) {
  auto queue = std::make_shared<model::Queue>(*queues_[lane]);
  queue->pause = is_paused ? model::PauseMode::kLease : model::PauseMode::kNone;
  ++queue->version;
  queues_[lane] = queue;
  return Do([&](Scheduler& scheduler, Step& step) { scheduler.QueueChanged(queue, step); });
}

TicketPtr SchedulerByHand::Caller(const std::string& name, const std::vector<int64_t>& lanes,
                                  std::chrono::milliseconds wait) {
  auto ticket = std::make_shared<Ticket>();
  ticket->call.began = now_;
  ticket->call.worker_name = name;
  ticket->call.max_tasks = 5;
  ticket->call.max_bytes = 1 << 20;
  ticket->waits = wait.count() > 0;
  ticket->deadline = now_ + wait;
  ticket->call.wait = absl::FromChrono(wait);
  for (const int64_t lane : lanes) ticket->wanted.push_back({{lane, 0}, queues_[lane]});
  return ticket;
}

std::string SchedulerByHand::Admit(const TicketPtr& ticket) {
  return Do([&](Scheduler& scheduler, Step& step) { scheduler.Admit(ticket, step); });
}

std::string SchedulerByHand::Cancel(const TicketPtr& ticket) {
  return Do([&](Scheduler& scheduler, Step& step) { scheduler.Cancel(ticket, step); });
}

std::string SchedulerByHand::Commit(int64_t lane, int64_t count, absl::Duration due_in) {
  const bool is_ready = due_in == absl::ZeroDuration();
  const store::UnleasedTasks tasks{lane, 0, 0, is_ready, count, DatabaseNow() + due_in};
  return Do([&](Scheduler& scheduler, Step& step) {
    scheduler.Committed({&tasks, 1}, DatabaseNow(), step);
  });
}

std::string SchedulerByHand::Notify(int64_t lane, int64_t count, bool is_ready) {
  model::Notification notification;
  notification.lane = lane;
  notification.count = count;
  notification.is_ready = is_ready;
  notification.schedule_time = DatabaseNow();
  return Do(
      [&](Scheduler& scheduler, Step& step) { scheduler.Notified(notification, step); });
}

ProbeStart SchedulerByHand::BeginProbe(int64_t lane) {
  ProbeStart start;
  begun_ = Do(
      [&](Scheduler& scheduler, Step& step) { start = scheduler.BeginProbe({lane, 0}, step); });
  return start;
}

std::string SchedulerByHand::Probe(int64_t lane, int64_t ready) {
  ProbeResult seen;
  seen.priorities = {0};
  seen.ready = ready;
  if (ready > 0) seen.first_ready = {{0, DatabaseNow(), last_id_ + 1}};
  return Do([&](Scheduler& scheduler, Step& step) {
    scheduler.EndProbe({lane, 0}, scheduler.BeginProbe({lane, 0}, step), seen, step);
  });
}

std::string SchedulerByHand::EndProbe(int64_t lane, const ProbeStart& start, int64_t ready) {
  ProbeResult seen;
  seen.priorities = {0};
  seen.ready = ready;
  return Do([&](Scheduler& scheduler, Step& step) {
    scheduler.EndProbe({lane, 0}, start, seen, step);
  });
}

std::string SchedulerByHand::FailProbe(int64_t lane) {
  return Do([&](Scheduler& scheduler, Step& step) {
    scheduler.EndProbe({lane, 0}, scheduler.BeginProbe({lane, 0}, step),
                       absl::UnavailableError("away"), step);
  });
}

void SchedulerByHand::MakeEmpty(int64_t lane) {
  EXPECT_EQ(Admit(Caller("first", {lane}, std::chrono::milliseconds(0))),
            absl::StrCat("probe ", lane));
  EXPECT_EQ(Probe(lane, 0), "answer first: 0 tasks");
  now_ += kSinceEmpty;
}

LeaseRun SchedulerByHand::Begin(int64_t lane) {
  LeaseRun run;
  begun_ = Do([&](Scheduler& scheduler, Step& step) {
    run = scheduler.BeginLease({lane, 0}, step);
  });
  return run;
}

std::string SchedulerByHand::End(LeaseRun& run, size_t count) {
  store::Leased leased;
  leased.now = DatabaseNow();
  EXPECT_LE(count, run.demand.slots.size());
  for (size_t i = 0; i < count; ++i) {
    store::LeasedRow& row = leased.rows.emplace_back();
    row.caller = run.demand.slots[i] - 1;
    row.task.schedule_time = DatabaseNow();
    row.task.token.task = {run.lane_stage.lane, ++last_id_};
  }
  return Do([&](Scheduler& scheduler, Step& step) {
    scheduler.EndLease(run, std::move(leased), step);
  });
}

std::string SchedulerByHand::Lease(int64_t lane, size_t count) {
  LeaseRun run = Begin(lane);
  return End(run, count);
}

std::string SchedulerByHand::FailLease(LeaseRun& run) {
  return Do([&](Scheduler& scheduler, Step& step) {
    scheduler.EndLease(run, absl::UnavailableError("away"), step);
  });
}

std::string SchedulerByHand::After(std::chrono::milliseconds span) {
  now_ += span;
  if (scheduler_.NextWake() > now_) return "";
  return Do([](Scheduler& scheduler, Step& step) { scheduler.Tick(step); });
}

}  // namespace skiplane::broker
