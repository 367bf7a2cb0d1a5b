#include "tests/store/store_harness.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "server/store/counts.h"
#include "server/store/queues.h"
#include "server/store/slice.h"

namespace skiplane::testing {

metrics::Metrics& StatementsRun() {
  static metrics::Metrics metrics("test", "test");
  return metrics;
}

pg::Uuid UuidOf(uint8_t byte) {
  pg::Uuid uuid;
  uuid.fill(byte);
  return uuid;
}

StoreHarness::StoreHarness(User user)
    : user_(user),
      database_(Database::Migrated()),
      session_(Open()),
      next_id_(Required(store::NextTaskIds(*session_))),
      lane_(MakeLane("work")) {}

std::unique_ptr<pg::Session> StoreHarness::Open() const {
  return Required(pg::Session::Open(Options(), &StatementsRun()));
}

int64_t StoreHarness::Number(const std::string& text) const {
  const std::string answer = Sql(text);
  int64_t number = 0;
  Require(absl::SimpleAtoi(answer, &number), absl::StrCat(text, " gave '", answer, "'"));
  return number;
}

int64_t StoreHarness::MakeLane(const std::string& queue) {
  Require(Required(store::CreateQueue(*session_, queue, model::QueueSettings(), 1)), queue);
  return Required(store::GetQueue(*session_, queue)).lanes.front();
}

std::vector<int64_t> StoreHarness::Put(int count, const model::NewTask& like,
                                       int32_t max_attempts) {
  std::vector<store::TaskRow> rows;
  std::vector<int64_t> ids;
  for (int i = 0; i < count; ++i) {
    rows.push_back({{lane_, next_id_}, &like, max_attempts});
    ids.push_back(next_id_++);
  }
  const bool is_plain = like.key.empty();
  Required(is_plain ? store::Enqueue(*session_, rows) : store::EnqueueOnce(*session_, rows, {}));
  return ids;
}

int64_t StoreHarness::PutOne(const model::NewTask& like, int32_t max_attempts) {
  return Put(1, like, max_attempts).front();
}

std::vector<store::TaskRow> StoreHarness::Rows(const std::vector<model::NewTask>& tasks) {
  std::vector<store::TaskRow> rows;
  for (const model::NewTask& task : tasks) rows.push_back({{lane_, next_id_++}, &task, 10});
  return rows;
}

store::LeaseDemand StoreHarness::Demand(const std::vector<int32_t>& slots) {
  store::LeaseDemand demand;
  demand.lane = lane_;
  for (const store::PriorityView& view : Required(store::Priorities(*session_, lane_, 0))) {
    demand.bounds.push_back({view.priority});
  }
  demand.slots = slots;
  const int callers = *std::max_element(slots.begin(), slots.end());
  for (int i = 1; i <= callers; ++i) {
    demand.callers.push_back(
        {UuidOf(static_cast<uint8_t>(i)), 1 << 30, model::NewSessionId(), ""});
  }
  return demand;
}

std::vector<store::LeasedRow> StoreHarness::Take(int count, const pg::Uuid& worker) {
  store::LeaseDemand demand = Demand(std::vector<int32_t>(static_cast<size_t>(count), 1));
  demand.callers[0].session = worker;
  return Required(store::Lease(*session_, demand)).rows;
}

model::LeaseToken StoreHarness::TakeOne(const pg::Uuid& worker) {
  const std::vector<store::LeasedRow> rows = Take(1, worker);
  Require(rows.size() == 1, "nothing to lease");
  return rows.front().task.token;
}

store::SettleBatch StoreHarness::Batch(const std::vector<model::LeaseToken>& tokens,
                                       store::Action action) const {
  store::SettleBatch batch;
  batch.lane = lane_;
  for (const model::LeaseToken& token : tokens) {
    store::SettleRow& row = batch.rows.emplace_back();
    row.token = token;
    row.action = action;
  }
  return batch;
}

size_t StoreHarness::Settle(const std::vector<model::LeaseToken>& tokens, store::Action action) {
  return Required(store::Settle(*session_, Batch(tokens, action))).size();
}

store::LeaseStatus StoreHarness::ClassifyOne(const model::LeaseToken& token) {
  return Required(store::Classify(*session_, lane_, {token})).front();
}

void StoreHarness::LetTimePass() const {
  Sql("UPDATE skiplane.task SET schedule_time = least(schedule_time, now() - interval '1 second') "
      "WHERE state = 1");
}

void StoreHarness::WaitUntilBlocked(const pg::Session& session) const {
  Sql(absl::StrCat(
      "DO $$ BEGIN WHILE NOT EXISTS (SELECT FROM pg_stat_activity WHERE pid = ",
      session.backend_pid(),
      " AND wait_event_type = 'Lock') LOOP PERFORM pg_stat_clear_snapshot(); END LOOP; END $$"));
}

void StoreHarness::ExpectExactCounts() {
  auto counts = Required(store::ReadCounts(*session_));
  const int64_t lanes = Number("SELECT max(lane) FROM skiplane.queue_lane");
  for (int64_t lane = 1; lane <= lanes; ++lane) {
    model::QueueCounts count;
    for (const auto& [lane_stage, part] : counts) {
      if (lane_stage.lane == lane) count += part;
    }
    const auto number = [this, lane](absl::string_view what, absl::string_view condition) {
      return Number(absl::StrCat("SELECT ", what, " WHERE ", condition, " AND lane = ", lane));
    };
    constexpr char kTasks[] =
        "count(*) FROM (SELECT lane, state, due FROM skiplane.task UNION ALL"
        " SELECT lane, state, due FROM skiplane.packed_task) t";
    EXPECT_EQ(count.scheduled,
              number(kTasks, "state = 1 AND due > date_part('epoch', now()) / 10"));
    EXPECT_EQ(count.ready, number(kTasks, "state = 1 AND due <= date_part('epoch', now()) / 10"));
    EXPECT_EQ(count.leased, number(kTasks, "state = 2"));
    EXPECT_EQ(count.failed, number("count(*) FROM skiplane.task_failed", "true"));
    // The ack of a periodic task that was to be cancelled cancels it.
    EXPECT_EQ(count.succeeded + count.moved,
              number("coalesce(sum(cardinality(tasks)), 0) FROM skiplane.settled",
                     "outcome = 1 AND transition <> 5"));
  }
}

model::NewTask TaskOf(const std::string& payload) {
  model::NewTask task;
  task.payload = payload;
  return task;
}

model::NewTask KeyedTask(const std::string& key) {
  model::NewTask task;
  task.key = key;
  return task;
}

model::NewTask TaskIn(absl::Duration delay) {
  model::NewTask task;
  task.delay = delay;
  return task;
}

model::NewTask TaskWithPriority(int16_t priority) {
  model::NewTask task;
  task.priority = priority;
  return task;
}

std::vector<model::LeaseToken> TokensOf(const std::vector<store::LeasedRow>& rows) {
  std::vector<model::LeaseToken> tokens;
  for (const store::LeasedRow& row : rows) tokens.push_back(row.task.token);
  return tokens;
}

std::vector<int64_t> IdsOf(const std::vector<store::LeasedRow>& rows) {
  std::vector<int64_t> ids;
  for (const store::LeasedRow& row : rows) ids.push_back(row.task.token.task.id);
  return ids;
}

}  // namespace skiplane::testing
