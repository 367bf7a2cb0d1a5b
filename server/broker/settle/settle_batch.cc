#include "server/broker/settle/settle_batch.h"

#include <algorithm>
#include <random>
#include <utility>

#include "server/base/reason.h"
#include "server/base/status_macros.h"
#include "server/broker/api/refusals.h"
#include "server/broker/settle/settle_log.h"
#include "server/broker/settle/settle_parts.h"
#include "server/model/retry.h"

namespace skiplane::broker {
namespace {

constexpr int kRoundsMax = 5;
constexpr size_t kLedgerRowsPerBatch = 200;

std::mt19937_64& Random() {
  thread_local std::mt19937_64 generator = [] {
    std::random_device device;
    std::seed_seq seed{device(), device(), device(), device()};
    return std::mt19937_64(seed);
  }();
  return generator;
}

double Spread() { return std::uniform_real_distribution<double>(-1.0, 1.0)(Random()); }

std::vector<SettleItem*> Undecided(const std::vector<SettleItem*>& items) {
  std::vector<SettleItem*> open;
  for (SettleItem* item : items) {
    if (!item->is_decided) open.push_back(item);
  }
  return open;
}

// Each lease once, in the order of ids, in which every broker locks rows. A repeat within the batch
// is classified after the first one was settled.
std::vector<SettleItem*> FirstOfEachLease(std::vector<SettleItem*> items) {
  const auto lease = [](const SettleItem* item) {
    return std::pair(item->token.task.id, item->token.lease_number);
  };
  std::ranges::stable_sort(items, {}, lease);
  const auto repeats = std::ranges::unique(items, {}, lease);
  items.erase(repeats.begin(), repeats.end());
  return items;
}

absl::Status ChangedAgain() {
  return base::Refuse(absl::StatusCode::kAborted, "TRANSACTION_CONFLICT",
                      "the task changed again and again during the call: call again");
}

bool IsAck(store::Action action) { return action == store::Action::kAck; }

model::TaskState EndStateOf(store::Action outcome) {
  switch (outcome) {
    case store::Action::kAck:
      return model::TaskState::kSucceeded;
    case store::Action::kCancel:
      return model::TaskState::kCancelled;
    default:
      return model::TaskState::kFailed;
  }
}

model::SettleOutcome OutcomeOf(const store::LeaseStatus& status, store::Action wanted) {
  if (status.settled_as.has_value()) {
    return IsAck(*status.settled_as) == IsAck(wanted) ? model::SettleOutcome::kAlreadySettled
                                                       : model::SettleOutcome::kLeaseLost;
  }
  if (status.lives || status.was_finished) return model::SettleOutcome::kLeaseLost;
  return model::SettleOutcome::kNotFound;
}

}  // namespace

SettleBatch::SettleBatch(int64_t lane, const model::Queue& queue, LeaseTracker& tracker,
                         Context& context)
    : try_id_(static_cast<int64_t>(Random()())),
      lane_(lane),
      queue_(queue),
      tracker_(tracker),
      metrics_(context.metrics),
      minutes_(*context.minutes) {}

absl::Status SettleBatch::Run(pg::Session& session, const Items& items) {
  Items open = Undecided(items);
  Items acks = FirstOfEachLease(open);
  std::erase_if(acks, [this](const SettleItem* item) { return !GoesByLocation(*item); });
  if (!acks.empty()) RETURN_IF_ERROR(AckByLocation(session, acks));

  for (int round = 0; round < kRoundsMax; ++round) {
    open = Undecided(items);
    if (open.empty()) return absl::OkStatus();
    const Items each = FirstOfEachLease(open);
    // Who was overtaken once is overtaken again, where newer content comes all the time.
    RETURN_IF_ERROR(round == 0 ? SettleById(session, each) : SettleLocked(session, each));
    open = Undecided(items);
    if (open.empty()) return absl::OkStatus();
    RETURN_IF_ERROR(Classify(session, open));
  }
  return Undecided(items).empty() ? absl::OkStatus() : ChangedAgain();
}

absl::Status SettleBatch::RunInTransaction(pg::Session& session, const Items& items, bool by_id) {
  const Items open = FirstOfEachLease(Undecided(items));
  if (open.empty()) return absl::OkStatus();
  const auto by_location = [this](const SettleItem* item) { return GoesByLocation(*item); };
  if (by_id) RETURN_IF_ERROR(LockTasks(session, open));
  RETURN_IF_ERROR(by_id || !std::ranges::all_of(open, by_location) ? SettleById(session, open)
                                                                   : AckByLocation(session, open));
  const Items left = Undecided(items);
  if (!left.empty()) RETURN_IF_ERROR(Classify(session, left));
  return Undecided(items).empty() ? absl::OkStatus() : ChangedAgain();
}

void SettleBatch::Committed() {
  if (!decided_.empty()) LogSettled(queue_, lane_, decided_, counts_);
  for (SettleItem* item : decided_) {
    tracker_.Settled(item->token);
    const model::SettleResult& result = item->result;
    const bool has_ended = result.outcome == model::SettleOutcome::kSettled &&
                           model::HasEnded(result.state);
    if (has_ended) ended_.push_back(item->token.task.id);
  }
  CountAll();
  decided_.clear();
}

void SettleBatch::RolledBack() {
  for (SettleItem* item : decided_) {
    item->is_decided = false;
    item->result = model::SettleResult();
  }
  decided_.clear();
  settled_.clear();
  recalled_.clear();
  counts_.clear();
  run_times_.clear();
  unleased_.clear();
}

void SettleBatch::OutcomeUnknown() {
  for (SettleItem* item : settled_) item->tries.push_back(try_id_);
  RolledBack();
}

// A statement that is its own transaction may have been committed.
void SettleBatch::NoteUnknown(const absl::Status& status, const Items& sent) const {
  if (!IsOutcomeUnknown(status)) return;
  for (SettleItem* item : sent) item->tries.push_back(try_id_);
}

// Where an ack moves the task; unset if the task has passed its last stage.
std::optional<int16_t> SettleBatch::NextStage(const SettleItem& item) const {
  if (item.continuation != nullptr && item.continuation->finish) return std::nullopt;
  if (item.continuation != nullptr && !item.continuation->next_stage.empty()) {
    return queue_.settings.FindStage(item.continuation->next_stage);
  }
  const auto next = static_cast<int16_t>(item.token.stage + 1);
  return next < queue_.settings.StageCount() ? std::optional<int16_t>(next) : std::nullopt;
}

// Whether all there is to do is to remove the task.
bool SettleBatch::GoesByLocation(const SettleItem& item) const {
  if (!IsAck(item.action) || item.token.is_recurring || NextStage(item).has_value()) return false;
  return item.continuation == nullptr || item.continuation->result.empty() ||
         !queue_.settings.keep_results;
}

store::SettleBatch SettleBatch::BatchOf(const Items& items) {
  store::SettleBatch batch;
  batch.lane = lane_;
  batch.try_id = try_id_;
  batch.settings = queue_.settings;
  batch.ledgers = tracker_.TakeFinished(lane_, kLedgerRowsPerBatch);
  for (SettleItem* item : items) {
    store::SettleRow& row = batch.rows.emplace_back();
    row.token = item->token;
    row.action = item->action;
    row.error = &item->error;
    if (item->action == store::Action::kRetry) {
      if (!item->retry_delay.has_value()) {
        item->retry_delay = model::RetryDelay(queue_.settings.RetryOf(item->token.stage),
                                              item->token.attempt, Spread());
      }
      row.delay = *item->retry_delay;
    }
    if (!IsAck(item->action)) continue;
    row.next_stage = NextStage(*item);
    if (item->continuation == nullptr) continue;
    row.result = item->continuation->result;
    if (item->continuation->next_content.has_value()) {
      row.next_content = &*item->continuation->next_content;
    }
  }
  return batch;
}

absl::Status SettleBatch::AckByLocation(pg::Session& session, const Items& acks) {
  Items packed = acks, rows;
  rows.assign(std::ranges::stable_partition(packed, [](const SettleItem* item) {
                return item->token.IsPacked();
              }).begin(), packed.end());
  packed.resize(packed.size() - rows.size());
  if (!packed.empty()) RETURN_IF_ERROR(AckAlike(session, packed));
  return rows.empty() ? absl::OkStatus() : AckAlike(session, rows);
}

absl::Status SettleBatch::AckAlike(pg::Session& session, const Items& acks) {
  absl::Time now;
  const absl::StatusOr<std::vector<size_t>> acked =
      store::AckByLocation(session, BatchOf(acks), &now);
  NoteUnknown(acked.status(), acks);
  RETURN_IF_ERROR(acked.status());
  for (const size_t index : *acked) {
    Decide(*acks[index], model::SettleOutcome::kSettled);
    settled_.push_back(acks[index]);
    NoteRunTime(*acks[index], now);
  }
  counts_[store::Action::kAck] += static_cast<int64_t>(acked->size());
  metrics_.Batch("ack", static_cast<int64_t>(acks.size()));
  return absl::OkStatus();
}

absl::Status SettleBatch::SettleById(pg::Session& session, const Items& items) {
  for (const Items& part : PartsOf(items)) {
    RETURN_IF_ERROR(TakeSettled(store::Settle(session, BatchOf(part)), part));
  }
  return absl::OkStatus();
}

absl::Status SettleBatch::TakeSettled(const absl::StatusOr<std::vector<store::Settled>>& settled,
                                      const Items& items) {
  NoteUnknown(settled.status(), items);
  RETURN_IF_ERROR(settled.status());
  for (const store::Settled& row : *settled) {
    Apply(*items[row.index], row);
    settled_.push_back(items[row.index]);
  }
  metrics_.Batch("settle", static_cast<int64_t>(items.size()));
  return absl::OkStatus();
}

absl::Status SettleBatch::Classify(pg::Session& session, const Items& items) {
  std::vector<model::LeaseToken> tokens;
  for (const SettleItem* item : items) tokens.push_back(item->token);
  ASSIGN_OR_RETURN(const std::vector<store::LeaseStatus> statuses,
                   store::Classify(session, lane_, tokens));
  Items maybe_own;
  for (size_t i = 0; i < items.size(); ++i) {
    const bool may_be_own = statuses[i].settled_as.has_value() && !items[i]->tries.empty();
    if (may_be_own) maybe_own.push_back(items[i]);
  }
  if (!maybe_own.empty()) RETURN_IF_ERROR(Recall(session, FirstOfEachLease(std::move(maybe_own))));
  for (size_t i = 0; i < items.size(); ++i) {
    if (statuses[i].is_held || items[i]->is_decided) continue;
    Decide(*items[i], OutcomeOf(statuses[i], items[i]->action));
  }
  return absl::OkStatus();
}

void SettleBatch::Decide(SettleItem& item, model::SettleOutcome outcome) {
  item.result.outcome = outcome;
  item.is_decided = true;
  decided_.push_back(&item);
}

void SettleBatch::Apply(SettleItem& item, const store::Settled& settled) {
  Decide(item, model::SettleOutcome::kSettled);
  ++counts_[settled.outcome];
  if (settled.outcome != store::Action::kRelease) NoteRunTime(item, settled.now);
  now_ = settled.now;
  if (!settled.schedule_time.has_value()) {
    item.result.state = EndStateOf(settled.outcome);
    return;
  }
  if (settled.outcome == store::Action::kAck) ++counts_[kMovedOn];
  const bool is_ready = *settled.schedule_time <= settled.now;
  item.result.state = is_ready ? model::TaskState::kReady : model::TaskState::kScheduled;
  if (settled.stage != item.token.stage) {
    item.result.stage = queue_.settings.StageName(settled.stage);
  }
  const bool has_time = *settled.schedule_time != absl::InfiniteFuture() &&
                        *settled.schedule_time != absl::InfinitePast();
  if (!has_time) return;  // paused, or not known any more
  item.result.schedule_time = *settled.schedule_time;
  unleased_.push_back(
      {lane_, settled.stage, settled.priority, is_ready, 1, *settled.schedule_time});
}

}  // namespace skiplane::broker
