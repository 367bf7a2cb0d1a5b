#include "server/broker/settle_batch.h"

#include <algorithm>
#include <random>
#include <utility>

#include "server/base/reason.h"
#include "server/base/status_macros.h"
#include "server/model/retry.h"

namespace skiplane::broker {
namespace {

constexpr int kRoundsMax = 5;
constexpr size_t kLedgerRowsPerBatch = 200;

double Spread() {
  thread_local std::mt19937_64 generator{std::random_device{}()};
  return std::uniform_real_distribution<double>(-1.0, 1.0)(generator);
}

std::vector<SettleItem*> Undecided(const std::vector<SettleItem*>& items) {
  std::vector<SettleItem*> open;
  for (SettleItem* item : items) {
    if (!item->is_decided) open.push_back(item);
  }
  return open;
}

// Each lease once, in the order of ids, in which every broker locks rows. A repeat within the batch
// is judged after the first one was settled.
std::vector<SettleItem*> FirstOfEachLease(std::vector<SettleItem*> items) {
  const auto lease = [](const SettleItem* item) {
    return std::pair(item->token.task.id, item->token.lease_no);
  };
  std::ranges::stable_sort(items, {}, lease);
  const auto repeats = std::ranges::unique(items, {}, lease);
  items.erase(repeats.begin(), repeats.end());
  return items;
}

bool IsAck(store::Action action) { return action == store::Action::kAck; }

model::SettleOutcome OutcomeOf(const store::Verdict& verdict, store::Action wanted) {
  if (verdict.settled_as.has_value()) {
    return IsAck(*verdict.settled_as) == IsAck(wanted) ? model::SettleOutcome::kAlreadySettled
                                                       : model::SettleOutcome::kLeaseLost;
  }
  if (verdict.lives || verdict.was_finished) return model::SettleOutcome::kLeaseLost;
  return model::SettleOutcome::kNotFound;
}

}  // namespace

absl::Status SettleBatch::Run(pg::Session& session, const Items& items) {
  Items open = Undecided(items);
  Items acks = FirstOfEachLease(open);
  std::erase_if(acks, [](const SettleItem* item) { return !IsAck(item->action); });
  if (!acks.empty()) RETURN_IF_ERROR(AckByPlace(session, acks));

  for (int round = 0; round < kRoundsMax; ++round) {
    open = Undecided(items);
    if (open.empty()) return absl::OkStatus();
    RETURN_IF_ERROR(SettleById(session, FirstOfEachLease(open)));
    open = Undecided(items);
    if (open.empty()) return absl::OkStatus();
    RETURN_IF_ERROR(Judge(session, open));
  }
  if (Undecided(items).empty()) return absl::OkStatus();
  return base::Refuse(absl::StatusCode::kAborted, "TRANSACTION_CONFLICT",
                      "the task changed again and again during the call: call again");
}

store::SettleBatch SettleBatch::BatchOf(const Items& items) {
  store::SettleBatch batch;
  batch.lane = lane_;
  batch.history = queue_.settings.history;
  batch.ledgers = tracker_.TakeFinished(lane_, kLedgerRowsPerBatch);
  for (SettleItem* item : items) {
    store::SettleRow& row = batch.rows.emplace_back();
    row.token = item->token;
    row.action = item->action;
    row.error = &item->error;
    if (item->action == store::Action::kRetry) {
      row.delay = item->retry_delay.has_value()
                      ? *item->retry_delay
                      : model::RetryDelay(queue_.settings.retry, item->token.attempt, Spread());
    }
  }
  return batch;
}

absl::Status SettleBatch::AckByPlace(pg::Session& session, const Items& acks) {
  ASSIGN_OR_RETURN(const std::vector<size_t> acked, store::AckByPlace(session, BatchOf(acks)));
  for (const size_t index : acked) Decide(*acks[index], model::SettleOutcome::kSettled);
  Count(store::Action::kAck, static_cast<int64_t>(acked.size()));
  metrics_.Batch("ack", static_cast<int64_t>(acks.size()));
  return absl::OkStatus();
}

absl::Status SettleBatch::SettleById(pg::Session& session, const Items& items) {
  ASSIGN_OR_RETURN(const std::vector<store::Settled> settled,
                   store::Settle(session, BatchOf(items)));
  for (const store::Settled& row : settled) Apply(*items[row.index], row);
  metrics_.Batch("nack", static_cast<int64_t>(items.size()));
  return absl::OkStatus();
}

absl::Status SettleBatch::Judge(pg::Session& session, const Items& items) {
  std::vector<model::LeaseToken> tokens;
  for (const SettleItem* item : items) tokens.push_back(item->token);
  ASSIGN_OR_RETURN(const std::vector<store::Verdict> verdicts,
                   store::Judge(session, lane_, tokens));
  for (size_t i = 0; i < items.size(); ++i) {
    if (!verdicts[i].is_held) Decide(*items[i], OutcomeOf(verdicts[i], items[i]->action));
  }
  return absl::OkStatus();
}

void SettleBatch::Decide(SettleItem& item, model::SettleOutcome outcome) {
  item.result.outcome = outcome;
  item.is_decided = true;
  tracker_.Settled(item.token);
}

void SettleBatch::Apply(SettleItem& item, const store::Settled& settled) {
  Decide(item, model::SettleOutcome::kSettled);
  Count(settled.outcome, 1);
  now_ = settled.now;
  if (!settled.run_at.has_value()) {
    item.result.state = settled.outcome == store::Action::kAck ? model::TaskState::kSucceeded
                                                               : model::TaskState::kFailed;
    return;
  }
  const bool can_run = *settled.run_at <= settled.now;
  item.result.state = can_run ? model::TaskState::kReady : model::TaskState::kScheduled;
  item.result.schedule_time = *settled.run_at;
  claimable_.push_back({lane_, settled.stage, settled.priority, can_run, 1, *settled.run_at});
}

void SettleBatch::Count(store::Action outcome, int64_t tasks) {
  if (tasks == 0) return;
  switch (outcome) {
    case store::Action::kAck:
      metrics_.AttemptEnded(queue_.name, "acked", tasks);
      metrics_.Finished(queue_.name, "succeeded", tasks);
      break;
    case store::Action::kRetry:
      metrics_.AttemptEnded(queue_.name, "retried", tasks);
      break;
    case store::Action::kRelease:
      metrics_.AttemptEnded(queue_.name, "released", tasks);
      break;
    case store::Action::kFail:
      metrics_.AttemptEnded(queue_.name, "failed", tasks);
      metrics_.Finished(queue_.name, "failed", tasks);
  }
}

}  // namespace skiplane::broker
