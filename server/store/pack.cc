#include "server/store/pack.h"

#include <algorithm>
#include <map>
#include <utility>

#include "server/base/status_macros.h"
#include "server/model/limits.h"
#include "server/model/request_key.h"
#include "server/sql/queries.h"
#include "server/store/texts.h"

namespace skiplane::store {
namespace {

// So that one that is left for the last of its tasks keeps little space.
constexpr int kPackBytesMax = 64 << 10;

// The arrays of task_enqueue_packed: one element per task, then one per pack.
struct PackColumns {
  std::vector<std::optional<absl::string_view>> types;
  HeadersColumn headers;
  std::vector<absl::string_view> payloads;
  std::vector<int64_t> calls;
  bool is_plain = true;

  std::vector<int64_t> lanes, ids;
  std::vector<int16_t> counts, priorities;
  std::vector<int32_t> max_attempts, firsts, bytes;

  bool Continues(const TaskRow& row, int32_t size) const {
    return !ids.empty() && counts.back() < model::kPackTasksMax &&
           bytes.back() + size <= kPackBytesMax && lanes.back() == row.id.lane &&
           priorities.back() == row.task->priority && max_attempts.back() == row.max_attempts &&
           ids.back() + counts.back() == row.id.id;
  }

  void Add(const TaskRow& row) {
    const model::NewTask& task = *row.task;
    types.push_back(IfAny(task.content_type));
    headers.Add(task.headers);
    payloads.push_back(task.payload);
    calls.push_back(row.call);
    is_plain = is_plain && task.content_type.empty() && task.headers.empty();
    const size_t header_bytes = headers.views.back().value_or("").size();
    const auto size = static_cast<int32_t>(task.payload.size() + header_bytes);
    if (Continues(row, size)) {
      ++counts.back();
      bytes.back() += size;
      return;
    }
    lanes.push_back(row.id.lane);
    ids.push_back(row.id.id);
    counts.push_back(1);
    priorities.push_back(task.priority);
    max_attempts.push_back(row.max_attempts);
    firsts.push_back(static_cast<int32_t>(payloads.size()));
    bytes.push_back(size);
  }

  // Whether packs cost less than rows, and the count of each notification says that there may be
  // some: kPackTasksLeast of each lane and priority.
  bool AreWorthIt() const {
    if (payloads.size() < model::kPackTasksLeast * ids.size()) return false;
    std::map<std::pair<int64_t, int16_t>, int> groups;
    for (size_t i = 0; i < ids.size(); ++i) groups[{lanes[i], priorities[i]}] += counts[i];
    return std::ranges::all_of(
        groups, [](const auto& group) { return group.second >= model::kPackTasksLeast; });
  }

  pg::Params Bind() const {
    pg::Params params;
    params.OptionalTextArray(types).OptionalTextArray(headers.views).ByteaArray(payloads);
    params.Int8Array(calls).Int8Array(lanes).Int8Array(ids).Int2Array(counts);
    params.Int2Array(priorities).Int4Array(max_attempts).Int4Array(firsts).Int4Array(bytes);
    params.Bool(!is_plain);
    return params;
  }
};

bool IsOrdinary(const TaskRow& row) {
  const model::NewTask& task = *row.task;
  return row.stage == 0 && task.key.empty() && !task.IsPeriodic() && row.IsImmediate();
}

}  // namespace

absl::Status Unpack(pg::Session& session, int64_t lane, absl::Span<const int64_t> ids) {
  while (true) {  // until no lease has come between its look and its locks
    ASSIGN_OR_RETURN(const pg::Rows rows,
                     session.Run(sql::kTaskUnpack, pg::Params().Int8(lane).Int8Array(ids)));
    if (rows.Int(0, 0) == 0) return absl::OkStatus();
  }
}

std::optional<absl::StatusOr<Enqueued>> EnqueuePacked(pg::Session& session,
                                                      absl::Span<const TaskRow> tasks,
                                                      absl::Span<const RequestRow> requests) {
  if (!std::ranges::all_of(tasks, IsOrdinary)) return std::nullopt;
  PackColumns columns;
  for (const TaskRow& row : tasks) columns.Add(row);
  if (!columns.AreWorthIt()) return std::nullopt;
  pg::Params params = columns.Bind();
  BindRequests(requests, params);
  const absl::StatusOr<pg::Rows> answer = session.Run(sql::kTaskEnqueuePacked, params);
  if (!answer.ok()) return answer.status();
  Enqueued result = ReadAsked(*answer, tasks, [](int, Enqueued&) {});
  for (UnleasedTasks& unleased : result.unleased) {
    unleased.may_be_packed = true;
    // Of those that a request id knew, none were made: peers are told of packs by the count.
    unleased.count = std::max<int64_t>(unleased.count, model::kPackTasksLeast);
  }
  return result;
}

absl::StatusOr<std::vector<size_t>> AckPacked(pg::Session& session, const SettleBatch& batch,
                                              absl::Time* now) {
  std::vector<int64_t> packs, lease_numbers, masks;
  std::vector<pg::Uuid> sessions;
  std::vector<size_t> elements;  // in which each row is
  for (const SettleRow& row : batch.rows) {
    const model::LeaseToken& token = row.token;
    const int64_t pack = token.task.id - token.offset;
    const auto bit = static_cast<int64_t>(uint64_t{1} << token.offset);
    // A lease has one element, or a task that is named twice would count twice.
    size_t element = packs.size();
    for (size_t i = element; i > 0 && packs[i - 1] == pack && element == packs.size(); --i) {
      const bool is_same =
          lease_numbers[i - 1] == token.lease_number && sessions[i - 1] == token.session;
      if (is_same) element = i - 1;
    }
    if (element == packs.size()) {
      packs.push_back(pack);
      lease_numbers.push_back(token.lease_number);
      sessions.push_back(token.session);
      masks.push_back(0);
    }
    masks[element] |= bit;
    elements.push_back(element);
  }
  pg::Params params;
  params.Int8(batch.lane).Int8Array(packs).Int8Array(lease_numbers).UuidArray(sessions);
  params.Int8Array(masks).Bool(batch.settings.history == model::HistoryPolicy::kAll);
  params.Int4(batch.settings.history_days).UuidArray(batch.ledgers).Int8(batch.try_id);
  params.Int8(IdsPerSettledRow(batch.rows));
  ASSIGN_OR_RETURN(const pg::Rows rows, session.Run(sql::kTaskAckPacked, params));
  std::vector<uint64_t> hits(packs.size());
  for (int row = 0; row < rows.size(); ++row) {
    hits[static_cast<size_t>(rows.Int(row, 0)) - 1] |= static_cast<uint64_t>(rows.Int(row, 1));
    if (now != nullptr) *now = rows.Micros(row, 2);
  }
  std::vector<size_t> acked;
  for (size_t i = 0; i < batch.rows.size(); ++i) {
    if ((hits[elements[i]] >> batch.rows[i].token.offset & 1) != 0) acked.push_back(i);
  }
  return acked;
}

}  // namespace skiplane::store
