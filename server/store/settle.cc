#include "server/store/settle.h"

#include <limits>
#include <numeric>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "server/base/status_macros.h"
#include "server/sql/queries.h"
#include "server/store/pack.h"
#include "server/store/texts.h"

namespace skiplane::store {
namespace {

using LeaseKey = std::pair<int64_t, int64_t>;  // task id and lease number

absl::flat_hash_map<LeaseKey, size_t> IndexOf(const std::vector<SettleRow>& rows) {
  absl::flat_hash_map<LeaseKey, size_t> index;
  index.reserve(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    index.emplace(LeaseKey{rows[i].token.task.id, rows[i].token.lease_number}, i);
  }
  return index;
}

// The greatest number stands for "never", the schedule time of a paused task.
absl::Time TimeOf(int64_t micros) {
  if (micros == std::numeric_limits<int64_t>::max()) return absl::InfiniteFuture();
  return absl::FromUnixMicros(micros);
}

struct TokenColumns {
  std::vector<pg::Tid> locations;
  std::vector<int64_t> ids, lease_numbers;
  std::vector<pg::Uuid> sessions;

  void Add(const model::LeaseToken& token) {
    locations.push_back({token.block, token.offset});
    ids.push_back(token.task.id);
    lease_numbers.push_back(token.lease_number);
    sessions.push_back(token.session);
  }
};

TokenColumns Tokens(const std::vector<SettleRow>& rows) {
  TokenColumns columns;
  for (const SettleRow& row : rows) columns.Add(row.token);
  return columns;
}

void BindActions(const std::vector<SettleRow>& rows, pg::Params& params) {
  std::vector<int16_t> actions;
  std::vector<int64_t> delays;
  std::vector<absl::string_view> texts;
  std::vector<std::optional<absl::string_view>> types, prints;
  static const model::TaskError kNoError;
  for (const SettleRow& row : rows) {
    // Null where there is no error: a task that succeeded keeps the one of the attempt before.
    const bool has_error = row.error != nullptr && row.action != Action::kAck &&
                           row.action != Action::kRelease;
    const model::TaskError& error = has_error ? *row.error : kNoError;
    actions.push_back(static_cast<int16_t>(row.action));
    delays.push_back(absl::ToInt64Microseconds(row.delay));
    types.push_back(has_error ? std::optional<absl::string_view>(error.type) : std::nullopt);
    texts.push_back(error.text);
    prints.push_back(IfAny(error.fingerprint));
  }
  params.Int2Array(actions).Int8Array(delays).OptionalTextArray(types);
  params.OptionalTextArray(prints).ByteaArray(texts);
}

// What comes after acks.
void BindNext(const SettleBatch& batch, pg::Params& params) {
  std::vector<std::optional<int16_t>> stages;
  std::vector<std::optional<int32_t>> max_attempts;
  std::vector<std::optional<absl::string_view>> payloads, types, headers, results;
  std::vector<std::string> header_texts;
  header_texts.reserve(batch.rows.size());  // views into its elements must stay
  for (const SettleRow& row : batch.rows) {
    const model::TaskContent* const content = row.next_content;
    stages.push_back(row.next_stage);
    max_attempts.emplace_back();
    if (row.next_stage) max_attempts.back() = batch.settings.RetryOf(*row.next_stage).max_attempts;
    payloads.emplace_back();
    types.emplace_back();
    headers.emplace_back();
    if (content != nullptr) {
      payloads.back() = content->payload;
      types.back() = IfAny(content->content_type);
      if (!content->headers.empty()) {
        headers.back() = header_texts.emplace_back(HeadersToJson(content->headers));
      }
    }
    results.push_back(IfAny(row.result));
  }
  params.OptionalInt2Array(stages).OptionalInt4Array(max_attempts).OptionalByteaArray(payloads);
  params.OptionalTextArray(types).OptionalTextArray(headers).OptionalByteaArray(results);
}

void BindSettings(const model::QueueSettings& settings, pg::Params& params) {
  params.Int2(static_cast<int16_t>(settings.history));
  params.Int2(static_cast<int16_t>(settings.periodic_history));
  params.Int4(settings.history_days).Int4(settings.failed_days);
  params.Bool(settings.keep_payloads).Bool(settings.keep_results);
}

absl::StatusOr<std::vector<size_t>> AckRows(pg::Session& session, const SettleBatch& batch,
                                            absl::Time* now) {
  const TokenColumns tokens = Tokens(batch.rows);
  pg::Params params;
  params.Int8(batch.lane).TidArray(tokens.locations).Int8Array(tokens.ids);
  params.Int8Array(tokens.lease_numbers).UuidArray(tokens.sessions);
  params.Bool(batch.settings.history == model::HistoryPolicy::kAll);
  params.Int4(batch.settings.history_days).Bool(batch.settings.keep_payloads);
  params.UuidArray(batch.ledgers).Int8(batch.try_id).Int8(IdsPerSettledRow(batch.rows));
  ASSIGN_OR_RETURN(const pg::Rows rows, session.Run(sql::kTaskAck, params));
  if (now != nullptr && !rows.empty()) *now = rows.Micros(0, 2);
  std::vector<size_t> acked(static_cast<size_t>(rows.size()));
  if (acked.size() == batch.rows.size()) {  // all of them, as nearly always
    std::iota(acked.begin(), acked.end(), size_t{0});
    return acked;
  }
  const absl::flat_hash_map<LeaseKey, size_t> index = IndexOf(batch.rows);
  for (int row = 0; row < rows.size(); ++row) {
    acked[static_cast<size_t>(row)] = index.at({rows.Int(row, 0), rows.Int(row, 1)});
  }
  return acked;
}

}  // namespace

int64_t IdsPerSettledRow(const std::vector<SettleRow>& rows) {
  const int64_t parts = std::ssize(rows) / 16;  // more would cost more than they spare
  constexpr int64_t kAll = std::numeric_limits<int64_t>::max();
  if (parts < 2) return kAll;
  const int64_t ids = rows.back().token.task.id - rows.front().token.task.id + 1;
  return ids > 64 * std::ssize(rows) ? ids / parts + 1 : kAll;
}

absl::StatusOr<std::vector<size_t>> AckByLocation(pg::Session& session, const SettleBatch& batch,
                                                  absl::Time* now) {
  if (batch.rows.empty() || !batch.rows.front().token.IsPacked()) {
    return AckRows(session, batch, now);
  }
  if (batch.settings.keep_payloads) return std::vector<size_t>();  // the history of packs has none
  return AckPacked(session, batch, now);
}

absl::StatusOr<std::vector<Settled>> Settle(pg::Session& session, const SettleBatch& batch) {
  std::vector<int64_t> packed;
  for (const SettleRow& row : batch.rows) {
    if (row.token.IsPacked()) packed.push_back(row.token.task.id);
  }
  if (!packed.empty()) RETURN_IF_ERROR(Unpack(session, batch.lane, packed));
  const TokenColumns tokens = Tokens(batch.rows);
  pg::Params params;
  params.Int8(batch.lane).Int8Array(tokens.ids).Int8Array(tokens.lease_numbers);
  params.UuidArray(tokens.sessions);
  BindActions(batch.rows, params);
  BindNext(batch, params);
  BindSettings(batch.settings, params);
  params.UuidArray(batch.ledgers).Int8(batch.try_id).Int8(IdsPerSettledRow(batch.rows));
  ASSIGN_OR_RETURN(const pg::Rows rows, session.Run(sql::kTaskSettle, params));
  std::vector<Settled> settled;
  const absl::flat_hash_map<LeaseKey, size_t> index = IndexOf(batch.rows);
  for (int row = 0; row < rows.size(); ++row) {
    Settled& out = settled.emplace_back();
    out.index = index.at({rows.Int(row, 0), rows.Int(row, 1)});
    out.outcome = static_cast<Action>(rows.Int(row, 2));
    if (!rows.IsNull(row, 3)) out.schedule_time = TimeOf(rows.Int(row, 3));
    out.priority = static_cast<int16_t>(rows.Int(row, 4));
    out.stage = static_cast<int16_t>(rows.Int(row, 5));
    out.now = rows.Micros(row, 6);
  }
  return settled;
}

absl::Status LockTasks(pg::Session& session, int64_t lane, absl::Span<const int64_t> ids,
                       const FollowUpKeys& follow_ups) {
  RETURN_IF_ERROR(Unpack(session, lane, ids));
  pg::Params params;
  params.Int8(lane).Int8Array(ids).Int8Array(follow_ups.lanes).TextArray(follow_ups.keys);
  RETURN_IF_ERROR(session.Run(sql::kTaskLock, params).status());
  if (follow_ups.keys.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const pg::Rows filled, session.Run(sql::kKeyLock, params));
  if (filled.empty()) return absl::OkStatus();
  pg::Params keys;
  keys.Int8Array(follow_ups.lanes).TextArray(follow_ups.keys);
  return session.Run(sql::kKeyUnfill, keys).status();
}

absl::StatusOr<std::vector<LeaseStatus>> Classify(pg::Session& session, int64_t lane,
                                                  absl::Span<const model::LeaseToken> tokens) {
  TokenColumns columns;
  for (const model::LeaseToken& token : tokens) columns.Add(token);
  pg::Params params;
  params.Int8(lane).Int8Array(columns.ids).Int8Array(columns.lease_numbers);
  params.UuidArray(columns.sessions);
  ASSIGN_OR_RETURN(const pg::Rows rows, session.Run(sql::kLeaseStatus, params));
  std::vector<LeaseStatus> statuses;
  for (int row = 0; row < rows.size(); ++row) {
    LeaseStatus& status = statuses.emplace_back();
    status.is_held = rows.Bool(row, 0);
    status.lives = rows.Bool(row, 1);
    if (!rows.IsNull(row, 2)) status.settled_as = static_cast<Action>(rows.Int(row, 2));
    status.was_finished = rows.Bool(row, 3);
  }
  return statuses;
}

absl::StatusOr<std::vector<Recalled>> Recall(pg::Session& session, int64_t lane,
                                             const std::vector<RecallItem>& items) {
  std::vector<int64_t> ids, lease_numbers, tries;
  absl::flat_hash_map<LeaseKey, size_t> index;
  for (size_t i = 0; i < items.size(); ++i) {
    const model::LeaseToken& token = items[i].token;
    index.emplace(LeaseKey{token.task.id, token.lease_number}, i);
    for (const int64_t try_id : items[i].tries) {
      ids.push_back(token.task.id);
      lease_numbers.push_back(token.lease_number);
      tries.push_back(try_id);
    }
  }
  pg::Params params;
  params.Int8(lane).Int8Array(ids).Int8Array(lease_numbers).Int8Array(tries);
  ASSIGN_OR_RETURN(const pg::Rows rows, session.Run(sql::kSettledRecall, params));
  std::vector<Recalled> recalled;
  for (int row = 0; row < rows.size(); ++row) {
    Recalled& out = recalled.emplace_back();
    out.index = index.at({rows.Int(row, 0), rows.Int(row, 1)});
    out.outcome = static_cast<Action>(rows.Int(row, 2));
    out.transition = static_cast<Transition>(rows.Int(row, 3));
    out.settle_time = rows.Micros(row, 4);
    if (!rows.IsNull(row, 5)) out.schedule_time = TimeOf(rows.Int(row, 5));
    if (!rows.IsNull(row, 6)) out.priority = static_cast<int16_t>(rows.Int(row, 6));
    out.now = rows.Micros(row, 7);
  }
  return recalled;
}

}  // namespace skiplane::store
