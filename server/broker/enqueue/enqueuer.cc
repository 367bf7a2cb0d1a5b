#include "server/broker/enqueue/enqueuer.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/base/reason.h"
#include "server/base/status_macros.h"
#include "server/broker/api/refusals.h"
#include "server/broker/enqueue/task_check.h"
#include "server/pg/conflicts.h"

namespace skiplane::broker {
namespace {

constexpr int kRewritesMax = 3;

absl::Status CheckTasks(const model::Queue& queue, const EnqueueCall& call) {
  for (size_t i = 0; i < call.tasks.size(); ++i) {
    const absl::Status status = CheckTask(queue, call.tasks[i]);
    if (!status.ok()) return base::PrefixField(absl::StrCat("tasks[", i, "]."), status);
  }
  return absl::OkStatus();
}

const char* OutcomeLabel(model::EnqueueOutcome outcome) {
  switch (outcome) {
    case model::EnqueueOutcome::kCreated:
      return "created";
    case model::EnqueueOutcome::kExisting:
      return "existing";
    case model::EnqueueOutcome::kReplaced:
      return "replaced";
    case model::EnqueueOutcome::kRestarted:
      return "restarted";
    case model::EnqueueOutcome::kRerun:
      return "rerun";
  }
  return "";
}

int64_t BytesOf(const EnqueueCall& call) {
  size_t bytes = 0;
  for (const model::NewTask& task : call.tasks) bytes += task.payload.size() + task.key.size() + 64;
  return static_cast<int64_t>(bytes);
}

// One of those that wait has got something under its request id, or may be about to at another
// broker: that is not to fail the calls that make the tasks.
bool FailsByLease(const store::HandOff& hand_off, const absl::Status& status) {
  const auto has_id = [](const store::LeaseCaller& caller) { return !caller.request_id.empty(); };
  return absl::IsAlreadyExists(status) ||
         (absl::IsAborted(status) && std::ranges::any_of(hand_off.callers, has_id));
}

}  // namespace

void Enqueuer::Enqueue(EnqueueCall call, Callback<std::vector<EnqueueResult>> done) {
  auto pending = std::make_unique<PendingEnqueue>();
  pending->call = std::move(call);
  pending->done = std::move(done);
  if (pending->call.has_several_queues) return EnqueueIntoSeveral(std::move(pending));
  EnqueueIntoOne(std::move(pending));
}

void Enqueuer::EnqueueIntoOne(std::unique_ptr<PendingEnqueue> pending) {
  const EnqueueCall& asked = pending->call;
  std::vector<std::string> names{asked.queue};
  const auto field_of = [field = asked.queue_field](size_t) { return std::string(field); };
  const auto check = [&asked](const QueueCache::Queues& queues) -> absl::Status {
    RETURN_IF_ERROR(CheckTasks(*queues.front(), asked));
    if (!queues.front()->settings.limits.IsAny()) return absl::OkStatus();
    return base::BlameField("REQUEST_TOO_LARGE", asked.queue_field,
                            QueueRoom::Want::Of(queues.front(), asked.tasks).CheckFits());
  };
  queues_.Find({asked.principal, asked.party}, std::move(names), field_of, check,
               [this, pending = std::move(pending)](
                   absl::StatusOr<QueueCache::Queues> found) mutable {
                 if (!found.ok()) return pending->done(found.status());
                 pending->queue = std::move(found->front());
                 absl::Status open = CheckOpen(*pending->queue);
                 if (!open.ok()) {
                   return pending->done(BlameClosed(pending->call.queue_field, open));
                 }
                 if (!pending->queue->settings.limits.IsAny()) {
                   return CheckSchedules(std::move(pending));
                 }
                 QueueRoom::Wants wants{
                     QueueRoom::Want::Of(pending->queue, pending->call.tasks)};
                 std::vector<std::string> fields{pending->call.queue_field};
                 TakeRoom(std::move(pending), std::move(wants), std::move(fields));
               });
}

void Enqueuer::Add(std::unique_ptr<PendingEnqueue> pending) {
  const auto rows = static_cast<int64_t>(pending->call.tasks.size());
  const int64_t bytes = BytesOf(pending->call);
  PrepareEnqueue(*pending);
  QueueBatcher& batcher = BatcherOf(*pending->queue);
  if (!batcher.Add(std::move(pending), rows, bytes)) pending->done(TooManyCalls());
}

absl::StatusOr<std::unique_ptr<PendingEnqueue>> Enqueuer::Prepare(pg::Session& session,
                                                                  const model::NewTask& task,
                                                                  const std::string& principal,
                                                                  const std::string& field) {
  auto pending = std::make_unique<PendingEnqueue>();
  ASSIGN_OR_RETURN(pending->queue, queues_.Get(session, task.queue, principal));
  RETURN_IF_ERROR(queues_.Check(session, &pending->queue, [&](const model::Queue& queue) {
    return base::PrefixField(field, CheckTask(queue, task));
  }));
  RETURN_IF_ERROR(CheckOpen(*pending->queue));
  pending->call.tasks.push_back(task);
  RETURN_IF_ERROR(schedules_.Validate(session, pending->call, field));
  PrepareEnqueue(*pending);
  return pending;
}

absl::StatusOr<std::vector<EnqueueResult>> Enqueuer::WriteInTransaction(
    pg::Session& session, const PendingEnqueues& calls, Uncommitted* written) {
  for (const auto& call : calls) RETURN_IF_ERROR(NumberTasks(session, numbers_, *call));
  ASSIGN_OR_RETURN(written->written, WriteRows(session, calls, RowsOf(calls), nullptr, false));
  std::vector<EnqueueResult> answers;
  for (const auto& call : calls) {
    ASSIGN_OR_RETURN(std::vector<EnqueueResult> results,
                     AnswerEnqueue(session, *call, written->written));
    answers.push_back(results.front());
    written->calls.push_back(call.get());
  }
  return answers;
}

void Enqueuer::Committed(const Uncommitted& enqueued) {
  for (const PendingEnqueue* call : enqueued.calls) Count(*call, enqueued.written);
  on_commit_(enqueued.written);
}

Enqueuer::QueueBatcher& Enqueuer::BatcherOf(const model::Queue& queue) {
  base::MutexLock lock(mutex_);
  std::unique_ptr<QueueBatcher>& batcher = batchers_[queue.id];
  if (batcher == nullptr) {
    batcher = std::make_unique<QueueBatcher>(
        context_.pool, BatchLimits(),
        [this](absl::StatusOr<pg::Session*> session, PendingEnqueues calls) {
          Run(std::move(session), std::move(calls));
        },
        nullptr,
        [](const std::unique_ptr<PendingEnqueue>& first) -> const std::string& {
          return first->call.party;
        });
  }
  return *batcher;
}

// Of calls that waited for the database while others did not see this broker.
void Enqueuer::RefuseDeleted(pg::Session& session, PendingEnqueues& calls) {
  std::erase_if(calls, [&](const std::unique_ptr<PendingEnqueue>& call) {
    absl::Status status = queues_.CheckStays(session, *call->queue);
    for (const QueuePtr& queue : call->queues) {
      if (status.ok()) status = queues_.CheckStays(session, *queue);
    }
    if (!status.ok()) call->done(status);
    return !status.ok();
  });
}

// Plain calls and those with keys or request ids are different statements, each its own commit.
void Enqueuer::Run(absl::StatusOr<pg::Session*> session, PendingEnqueues calls) {
  if (!session.ok()) {
    for (auto& call : calls) call->done(session.status());
    return;
  }
  if (!queues_.IsBelieved()) RefuseDeleted(**session, calls);
  const auto first_once = std::stable_partition(
      calls.begin(), calls.end(), [](const auto& call) { return !call->NeedsOnce(); });
  PendingEnqueues once(std::make_move_iterator(first_once), std::make_move_iterator(calls.end()));
  calls.erase(first_once, calls.end());
  if (!calls.empty()) Write(**session, std::move(calls));
  if (!once.empty()) Write(**session, std::move(once));
}

void Enqueuer::Write(pg::Session& session, PendingEnqueues calls) {
  absl::Status status = absl::OkStatus();
  for (auto& call : calls) {
    if (status.ok()) status = NumberTasks(session, numbers_, *call);
  }
  if (!status.ok()) {  // nothing was written: asking for numbers changes nothing
    for (auto& call : calls) call->done(IsOutcomeUnknown(status) ? RepeatLater() : status);
    return;
  }
  absl::StatusOr<store::Enqueued> written = WriteAndHandOff(session, calls);
  if (written.ok()) {
    size_t rows = 0;
    for (const auto& call : calls) rows += call->ids.size();
    context_.metrics.Batch("enqueue", static_cast<int64_t>(rows));
    Answer(session, *written, std::move(calls));
  } else if (IsOutcomeUnknown(written.status())) {
    Resolve(std::move(calls));
  } else if (calls.size() > 1) {
    WriteEach(std::move(calls));
  } else if (absl::IsAlreadyExists(written.status())) {
    calls.front()->done(KeyExists(session, *calls.front()));
  } else {
    calls.front()->done(written.status());
  }
}

// One bad call must not fail its neighbours, nor hold the connection while each is tried.
void Enqueuer::WriteEach(PendingEnqueues calls) {
  for (auto& call : calls) {
    const std::string party = call->call.party;
    auto single = std::make_shared<PendingEnqueues>();
    single->push_back(std::move(call));
    context_.turns.Submit(TurnOf::kWork, party,
                          [this, single](absl::StatusOr<pg::Session*> session) {
                            // An earlier try may have been committed.
                            const bool is_repeatable = single->front()->is_repeatable;
                            if (!session.ok() && is_repeatable) session = RepeatLater();
                            Run(std::move(session), std::move(*single));
                          });
  }
}

// Those that wait for tasks hear of theirs after the scheduler has heard of the others: else a
// later task could go before these.
absl::StatusOr<store::Enqueued> Enqueuer::WriteAndHandOff(pg::Session& session,
                                                          const PendingEnqueues& calls) {
  const std::vector<store::TaskRow> rows = RowsOf(calls);
  HandOff hand_off;
  if (dispatcher_ != nullptr && MayHandOff(calls)) hand_off = dispatcher_->BeginHandOff(rows);
  if (hand_off.runs.empty()) return WriteOnce(session, calls, rows, nullptr);
  absl::StatusOr<store::Enqueued> written = WriteOnce(session, calls, rows, &hand_off.leases);
  if (written.ok()) {
    dispatcher_->EndHandOff(session, hand_off, std::move(written->leased));
  } else {
    dispatcher_->EndHandOff(session, hand_off, written.status());
  }
  const bool is_theirs = FailsByLease(hand_off.leases, written.status());
  return is_theirs ? WriteOnce(session, calls, rows, nullptr) : std::move(written);
}

absl::StatusOr<store::Enqueued> Enqueuer::WriteOnce(pg::Session& session,
                                                    const PendingEnqueues& calls,
                                                    absl::Span<const store::TaskRow> rows,
                                                    const store::HandOff* hand_off) {
  absl::StatusOr<store::Enqueued> written = pg::RepeatConflicts(
      [&] { return WriteRows(session, calls, rows, hand_off, peers_read_packs_); });
  if (written.ok()) on_commit_(*written);
  return written;
}

void Enqueuer::Answer(pg::Session& session, const store::Enqueued& written, PendingEnqueues calls) {
  PendingEnqueues again;
  for (auto& call : calls) {
    absl::StatusOr<std::vector<EnqueueResult>> results = AnswerEnqueue(session, *call, written);
    if (absl::IsAborted(results.status()) && ++call->rewrites < kRewritesMax) {
      call->ids.clear();
      again.push_back(std::move(call));
      continue;
    }
    if (IsOutcomeUnknown(results.status())) results = RepeatLater();
    if (results.ok()) Count(*call, written);
    call->done(std::move(results));
  }
  if (!again.empty()) Write(session, std::move(again));
}

// A repeat is answered as the first call was, but counted as what it did: nothing.
void Enqueuer::Count(const PendingEnqueue& call, const store::Enqueued& written) {
  std::map<std::pair<const model::Queue*, const char*>, int64_t> results;
  for (size_t i = 0; i < call.ids.size(); ++i) {
    const model::TaskId& id = call.ids[i];
    const auto changed = written.changed.find(id.id);
    const bool made = !call.NeedsOnce() || written.made.contains(id.id);
    const char* const result = made ? "created"
                               : changed == written.changed.end()
                                   ? "existing"
                                   : OutcomeLabel(changed->second.outcome);
    ++results[{&call.QueueOf(i), result}];
  }
  for (const auto& [place, count] : results) {
    context_.metrics.Enqueued(place.first->name, place.second, count);
  }
}

}  // namespace skiplane::broker
