#include <limits>

#include "gmock/gmock.h"
#include "tests/store/store_harness.h"
#include "tests/support/status_matchers.h"

namespace skiplane::store {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;
using testing::IsOk;
using testing::IsOkAndHolds;
using testing::Required;
using testing::StatusIs;
using testing::TaskIn;
using testing::TaskOf;
using testing::TaskWithPriority;

class EnqueueTest : public testing::StoreHarness {
 protected:
  std::string Column(const std::string& expression) const {
    return Sql(absl::StrCat("SELECT ", expression, " FROM skiplane.task"));
  }
};

TEST_F(EnqueueTest, TasksWithoutATimeCanRunAtOnce) {
  const std::vector<model::NewTask> tasks(3);
  const Enqueued enqueued = Required(Enqueue(*session_, Rows(tasks)));
  ASSERT_EQ(enqueued.unleased.size(), 1u);
  const UnleasedTasks& unleased = enqueued.unleased.front();
  EXPECT_EQ(unleased.lane, lane_);
  EXPECT_EQ(unleased.count, 3);
  EXPECT_TRUE(unleased.is_ready);
  EXPECT_LE(unleased.schedule_time, enqueued.now);
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.task WHERE schedule_time = create_time "
                   "AND due = 0 "
                   "AND state = 1 AND attempt = 0 AND schedule_time <= now()"),
            3);
}

TEST_F(EnqueueTest, ADelayCountsByTheDatabasesClock) {
  const std::vector<model::NewTask> tasks = {TaskIn(absl::Minutes(5))};
  const Enqueued enqueued = Required(Enqueue(*session_, Rows(tasks)));
  ASSERT_EQ(enqueued.unleased.size(), 1u);
  EXPECT_FALSE(enqueued.unleased.front().is_ready);
  EXPECT_EQ(Column("schedule_time - create_time = interval '5 minutes'"), "t");
  EXPECT_EQ(Column("abs(date_part('epoch', schedule_time - now()) - 300) < 60"), "t");
  EXPECT_EQ(Column("due = ceil(date_part('epoch', schedule_time) / 10)"), "t");
}

TEST_F(EnqueueTest, AFutureTimeIsKeptToTheMicrosecond) {
  const absl::Time start = absl::FromUnixMicros(4'102'444'800'123'456);
  std::vector<model::NewTask> tasks(1);
  tasks[0].schedule_time = start;
  const Enqueued enqueued = Required(Enqueue(*session_, Rows(tasks)));
  EXPECT_EQ(enqueued.unleased.front().schedule_time, start);
  EXPECT_FALSE(enqueued.unleased.front().is_ready);
  EXPECT_EQ(Column("schedule_time"), "2100-01-01 00:00:00.123456+00");
  EXPECT_EQ(Column("due"), "410244481");
}

TEST_F(EnqueueTest, APastTimeBecomesNow) {
  std::vector<model::NewTask> tasks(1);
  tasks[0].schedule_time = absl::UnixEpoch();
  const Enqueued enqueued = Required(Enqueue(*session_, Rows(tasks)));
  EXPECT_TRUE(enqueued.unleased.front().is_ready);
  EXPECT_EQ(Column("schedule_time = create_time AND due = 0"), "t");
}

TEST_F(EnqueueTest, AnswersPerLanePriorityAndWhetherItCanRun) {
  const int64_t other_lane = MakeLane("other");
  const std::vector<model::NewTask> tasks = {TaskWithPriority(5), TaskWithPriority(5), TaskOf(""),
                                             TaskIn(absl::Minutes(5)), TaskOf("")};
  std::vector<TaskRow> rows = Rows(tasks);
  rows.back().id.lane = other_lane;
  std::vector<std::string> seen;
  for (const UnleasedTasks& group : Required(Enqueue(*session_, rows)).unleased) {
    seen.push_back(absl::StrCat(group.lane == lane_ ? "work " : "other ", group.priority,
                                group.is_ready ? " now " : " later ", group.count));
  }
  EXPECT_THAT(seen, UnorderedElementsAre("work 5 now 2", "work 0 now 1", "work 0 later 1",
                                         "other 0 now 1"));
}

TEST_F(EnqueueTest, OneBadRowKeepsAllOut) {
  const std::vector<model::NewTask> tasks(500);
  std::vector<TaskRow> rows = Rows(tasks);
  rows[250].max_attempts = 0;
  EXPECT_FALSE(Enqueue(*session_, rows).ok());
  EXPECT_FALSE(EnqueueOnce(*session_, rows, {}).ok());
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.task"), 0);
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.counter_delta"), 0);
  rows[250].max_attempts = 1;
  EXPECT_THAT(Enqueue(*session_, rows), IsOk());
}

TEST_F(EnqueueTest, AnIdIsTakenOnce) {
  const std::vector<model::NewTask> tasks(1);
  const std::vector<TaskRow> rows = Rows(tasks);
  ASSERT_THAT(Enqueue(*session_, rows), IsOk());
  EXPECT_THAT(Enqueue(*session_, rows), StatusIs(absl::StatusCode::kAlreadyExists));
}

TEST_F(EnqueueTest, AThousandTasksAreOneStatement) {
  const std::vector<model::NewTask> tasks(1000, TaskOf(std::string(200, 'x')));
  EXPECT_EQ(Required(Enqueue(*session_, Rows(tasks))).unleased.front().count, 1000);
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.task"), 1000);
}

TEST_F(EnqueueTest, PayloadsOfAnySizeAndBytesComeBack) {
  std::string every_byte;
  for (int byte = 0; byte < 256; ++byte) every_byte.push_back(static_cast<char>(byte));
  std::string large;
  while (large.size() < 1 << 20) large += every_byte;
  const std::vector<model::NewTask> tasks = {TaskOf(""), TaskOf(every_byte), TaskOf(large)};
  ASSERT_THAT(Enqueue(*session_, Rows(tasks)), IsOk());
  std::vector<std::string> payloads;
  for (const LeasedRow& row : Take(3)) payloads.push_back(row.task.payload);
  EXPECT_THAT(payloads, ElementsAre("", every_byte, large));
}

TEST_F(EnqueueTest, EveryFieldComesBack) {
  model::NewTask task;
  task.payload = "{\"n\": 1}";
  task.content_type = "application/json";
  task.headers = {{"", "empty key"}, {"a\"b\\c", "'quoted' \"twice\" \\ and \n"},
                  {"snow", "☃ und Straße, 雪, 🎿"}, {"void", ""}};
  task.priority = std::numeric_limits<int16_t>::min();
  const std::vector<model::NewTask> tasks = {task};
  ASSERT_THAT(Enqueue(*session_, Rows(tasks)), IsOk());
  const std::vector<LeasedRow> rows = Take(1);
  ASSERT_EQ(rows.size(), 1u);
  const model::LeasedTask& leased = rows.front().task;
  EXPECT_EQ(leased.payload, task.payload);
  EXPECT_EQ(leased.content_type, task.content_type);
  EXPECT_EQ(leased.headers, task.headers);
  EXPECT_EQ(leased.priority, task.priority);
  EXPECT_EQ(leased.max_attempts, 10);
  EXPECT_EQ(leased.key, "");
  EXPECT_EQ(leased.create_time, leased.schedule_time);
}

TEST_F(EnqueueTest, BlocksOfTaskNumbersDoNotOverlap) {
  const int64_t first = Required(NextTaskIds(*session_));
  EXPECT_THAT(NextTaskIds(*Open()), IsOkAndHolds(first + kTaskIdBlock));
}

TEST_F(EnqueueTest, LivingTasksAreTold) {
  const std::vector<int64_t> ids = Put(3);
  Settle({TakeOne()}, Action::kAck);
  EXPECT_THAT(LivingTasks(*session_, lane_, ids),
              IsOkAndHolds(UnorderedElementsAre(ids[1], ids[2])));
  EXPECT_THAT(LivingTasks(*session_, lane_ + 1, ids), IsOkAndHolds(IsEmpty()));
}

}  // namespace
}  // namespace skiplane::store
