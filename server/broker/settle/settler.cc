#include "server/broker/settle/settler.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "server/broker/api/refusals.h"
#include "server/broker/settle/error_fingerprint.h"
#include "server/broker/settle/settle_parts.h"
#include "server/pg/conflicts.h"

namespace skiplane::broker {
namespace {

constexpr int kTriesMax = 3;
constexpr size_t kLanesMax = 100000;  // more than an installation has; a forged token names any

store::Action ActionOf(model::NackDisposition disposition) {
  switch (disposition) {
    case model::NackDisposition::kRelease:
      return store::Action::kRelease;
    case model::NackDisposition::kFail:
      return store::Action::kFail;
    case model::NackDisposition::kRetry:
      break;
  }
  return store::Action::kRetry;
}

void Take(model::AckItem& wanted, SettleItem& item) {
  item.token = wanted.token;
  item.continuation = std::move(wanted.continuation);
  if (!wanted.refusal.ok()) item.Refuse(std::move(wanted.refusal));
}

void Take(model::NackItem& wanted, SettleItem& item) {
  item.token = wanted.token;
  item.action = ActionOf(wanted.disposition);
  item.retry_delay = wanted.retry_delay;
  item.error = std::move(wanted.error);
  if (!wanted.refusal.ok()) item.Refuse(std::move(wanted.refusal));
  const bool has_failed = item.action != store::Action::kRelease;
  if (has_failed && item.error.fingerprint.empty()) {
    item.error.fingerprint = ErrorFingerprint(item.error);
  }
}

// As many as leave a batch with kFailuresAtOnce that may fail.
int64_t RowsOf(const SettlePart& part) {
  int64_t rows = 0;
  for (const size_t i : part.items) rows += MayFail(part.call->items[i]) ? kRowsOfFailure : 1;
  return rows;
}

bool IsDecided(const SettlePart& part) {
  return std::ranges::all_of(part.items,
                             [&](const size_t i) { return part.call->items[i].is_decided; });
}

void EndAll(std::vector<SettlePart>& parts, const absl::Status& status) {
  for (SettlePart& part : parts) part.call->EndPart(status);
}

int64_t BytesOf(const SettlePart& part) {
  size_t bytes = 0;
  for (const size_t i : part.items) {
    const SettleItem& item = part.call->items[i];
    bytes += 64 + item.error.text.size();
    if (item.continuation == nullptr) continue;
    const model::AckContinuation& continuation = *item.continuation;
    bytes += continuation.result.size();
    if (continuation.next_content.has_value()) bytes += continuation.next_content->payload.size();
    for (const auto& follow_up : continuation.follow_ups) bytes += follow_up.payload.size();
  }
  return static_cast<int64_t>(bytes);
}

// What the calls want to lease next whose last open part is in this statement.
std::vector<SettleAndLeasePtr> NextOf(const std::vector<SettlePart>& parts) {
  std::vector<SettleAndLeasePtr> nexts;
  for (const SettlePart& part : parts) {
    if (part.call->next != nullptr && part.call->open_parts == 1) nexts.push_back(part.call->next);
  }
  return nexts;
}

}  // namespace

void Settler::Settle(std::vector<model::SettleItem> items, const std::string& party,
                     SettleAndLeasePtr next, Callback<std::vector<model::SettleResult>> done) {
  auto call = std::make_shared<SettleCall>();
  call->party = party;
  call->next = std::move(next);
  call->done = std::move(done);
  call->items.resize(items.size());
  bool has_continuation = false;
  for (size_t i = 0; i < items.size(); ++i) {
    SettleItem& item = call->items[i];
    std::visit([&item](auto& wanted) { Take(wanted, item); }, items[i]);
    has_continuation = has_continuation || item.continuation != nullptr;
  }
  if (has_continuation) {
    PrepareContinuations(std::move(call));
  } else {
    Submit(std::move(call));
  }
}

void Settler::Release(std::vector<model::LeaseToken> tokens) {
  if (tokens.empty()) return;
  auto call = std::make_shared<SettleCall>();
  call->party = "releases";
  for (const model::LeaseToken& token : tokens) {
    SettleItem& out = call->items.emplace_back();
    out.token = token;
    out.action = store::Action::kRelease;
  }
  call->done = [](const absl::StatusOr<std::vector<model::SettleResult>>&) {};
  Submit(std::move(call));
}

void Settler::Submit(std::shared_ptr<SettleCall> call) {
  std::map<int64_t, std::vector<size_t>> by_lane;
  for (size_t i = 0; i < call->items.size(); ++i) {
    if (call->items[i].is_decided) continue;  // refused
    by_lane[call->items[i].token.task.lane].push_back(i);
  }
  call->open_parts = static_cast<int>(std::max<size_t>(by_lane.size(), 1));
  if (by_lane.empty()) call->EndPart(absl::OkStatus());
  for (auto& [lane, items] : by_lane) {
    SettlePart part{call, std::move(items)};
    const int64_t rows = RowsOf(part);
    const int64_t bytes = BytesOf(part);
    if (!BatcherOf(lane).Add(std::move(part), rows, bytes)) call->EndPart(TooManyCalls());
  }
}

// A lane of which no queue is known shares one batcher with all such lanes.
Settler::LaneBatcher& Settler::BatcherOf(int64_t lane) {
  base::MutexLock lock(mutex_);
  if (batchers_.size() >= kLanesMax && !batchers_.contains(lane)) lane = batchers_.begin()->first;
  std::unique_ptr<LaneBatcher>& batcher = batchers_[lane];
  if (batcher == nullptr) {
    batcher = std::make_unique<LaneBatcher>(
        context_.pool, BatchLimits(),
        [this](absl::StatusOr<pg::Session*> session, std::vector<SettlePart> parts) {
          std::map<int64_t, std::vector<SettlePart>> by_lane;
          for (SettlePart& part : parts) {
            const int64_t number = part.call->items[part.items.front()].token.task.lane;
            by_lane[number].push_back(std::move(part));
          }
          for (auto& [number, lane_parts] : by_lane) Run(number, session, std::move(lane_parts));
        },
        nullptr,
        [](const SettlePart& first) -> const std::string& { return first.call->party; });
  }
  return *batcher;
}

void Settler::Run(int64_t lane, absl::StatusOr<pg::Session*> session,
                  std::vector<SettlePart> parts) {
  if (!session.ok()) {
    EndAll(parts, session.status());
    return;
  }
  absl::StatusOr<QueuePtr> queue = queues_.FindLane(**session, lane);
  if (queue.ok() && *queue == nullptr) {  // a token of another installation: items are NOT_FOUND
    EndAll(parts, absl::OkStatus());
    return;
  }
  absl::Status status = queue.status();
  if (status.ok()) {
    SettleBatch batch(lane, **queue, tracker_, context_);
    std::vector<SettleItem*> items;
    for (SettlePart& part : parts) {
      for (const size_t i : part.items) items.push_back(&part.call->items[i]);
    }
    const auto has_follow_ups = [](const SettleItem* item) { return !item->follow_ups.empty(); };
    std::vector<Reservation> reservations = dispatcher_.Reserve(**session, lane, NextOf(parts));
    if (!reservations.empty() || std::any_of(items.begin(), items.end(), has_follow_ups)) {
      status = RunInTransaction(**session, batch, items, parts, reservations);
      if (!status.ok() && !IsOutcomeUnknown(status) && !reservations.empty()) {
        Run(lane, session, std::move(parts));  // it may have been the lease; the items come first
        return;
      }
    } else {
      status = pg::RepeatConflicts([&] { return batch.Run(**session, items); });
      batch.Committed();
    }
    context_.on_ended(lane, batch.ended());
    if (!batch.unleased().empty()) on_commit_(batch.unleased(), batch.now());
  }
  if (IsOutcomeUnknown(status)) {
    Repeat(lane, std::move(parts));
  } else if (!status.ok() && parts.size() > 1) {
    RunEach(lane, std::move(parts));
  } else {
    EndAll(parts, status);
  }
}

// One bad item must not fail its neighbours' calls, nor hold the connection while each is tried.
void Settler::RunEach(int64_t lane, std::vector<SettlePart> parts) {
  for (SettlePart& part : parts) {
    if (IsDecided(part)) {  // by a statement before the one that failed
      part.call->EndPart(absl::OkStatus());
      continue;
    }
    const std::string party = part.call->party;
    auto single = std::make_shared<std::vector<SettlePart>>();
    single->push_back(std::move(part));
    context_.turns.Submit(TurnOf::kWork, party,
                          [this, lane, single](absl::StatusOr<pg::Session*> session) {
                            // An earlier try may have been committed.
                            const bool is_first = single->front().tries == 0;
                            if (!session.ok() && !is_first) session = RepeatLater();
                            Run(lane, std::move(session), std::move(*single));
                          });
  }
}

// The connection broke during the commit. Repeating is safe: what was settled is found to be.
void Settler::Repeat(int64_t lane, std::vector<SettlePart> parts) {
  std::vector<SettlePart> again;
  for (SettlePart& part : parts) {
    if (++part.tries < kTriesMax) {
      again.push_back(std::move(part));
    } else {
      part.call->EndPart(RepeatLater());
    }
  }
  if (again.empty()) return;
  auto shared = std::make_shared<std::vector<SettlePart>>(std::move(again));
  context_.pool.Submit(
      [this, lane, shared](absl::StatusOr<pg::Session*> session) {
        Run(lane, session.ok() ? session : RepeatLater(), std::move(*shared));
      },
      {shared->front().call->party});
}

}  // namespace skiplane::broker
