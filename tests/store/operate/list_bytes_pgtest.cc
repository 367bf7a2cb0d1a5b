// Every list that operators read ends at a number of bytes, and goes on behind its last item.
#include "gmock/gmock.h"
#include "server/store/bulk.h"
#include "server/store/queues.h"
#include "server/store/reports.h"
#include "server/store/task_change.h"
#include "server/store/task_view.h"
#include "tests/store/store_harness.h"
#include "tests/support/status_matchers.h"

namespace skiplane::store {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::IsEmpty;
using ::testing::Le;
using ::testing::SizeIs;
using testing::IsOk;
using testing::Required;

constexpr int64_t kMebibyte = 1 << 20;

class ListBytesTest : public testing::StoreHarness {
 protected:
  model::Page<model::TaskView> Get(const std::vector<int64_t>& ids, Room room, bool full = true) {
    return Required(GetTasks(*session_, lane_, ids, full, room));
  }

  // Room for two items of a mebibyte, but not for three.
  static constexpr int64_t kForTwo = 5 * kMebibyte / 2;
};

// Zeros are stored in few bytes; what counts is what they weigh on the wire.
TEST_F(ListBytesTest, TasksEndWithTheLastThatFits) {
  model::NewTask task;
  task.payload = std::string(kMebibyte, '\0');
  const std::vector<int64_t> ids = Put(4, task);
  const auto page = Get(ids, {kForTwo, true});
  ASSERT_THAT(page.items, SizeIs(2));
  EXPECT_EQ(page.items[1].id.id, ids[1]);
  EXPECT_EQ(page.items[1].payload.size(), static_cast<size_t>(kMebibyte));
  EXPECT_TRUE(page.has_more);
  EXPECT_THAT(page.bytes, AllOf(Ge(2 * kMebibyte), Le(2 * kMebibyte + 2048)));
  const auto rest = Get({ids[2], ids[3]}, {kForTwo, true});
  EXPECT_THAT(rest.items, SizeIs(2));
  EXPECT_FALSE(rest.has_more);
  EXPECT_THAT(Get(ids, {kForTwo, true}, false).items, SizeIs(4)) << "without payloads";
}

TEST_F(ListBytesTest, HeadersAndErrorsWeighToo) {
  model::NewTask task;
  for (int i = 0; i < 64; ++i) task.headers.emplace_back(absl::StrCat(i), std::string(4096, 'h'));
  const std::vector<int64_t> ids = Put(4, task);
  EXPECT_THAT(Get(ids, {600'000, true}).items, SizeIs(2));
  Sql("UPDATE skiplane.task SET headers = NULL, error_type = 'e', error_text = repeat('x', 65536)"
      "::bytea");
  EXPECT_THAT(Get(ids, {150'000, true}, false).items, SizeIs(2));
}

TEST_F(ListBytesTest, TheFirstTaskComesWhateverItWeighsIfItShall) {
  const std::vector<int64_t> ids = Put(2);
  const auto first = Get(ids, {0, true});
  EXPECT_THAT(first.items, SizeIs(1));
  EXPECT_TRUE(first.has_more);
  const auto none = Get(ids, {0, false});
  EXPECT_THAT(none.items, IsEmpty());
  EXPECT_TRUE(none.has_more);
  EXPECT_FALSE(Get({ids[1] + 1000}, {1000, true}).has_more) << "an unknown task is not one more";
}

TEST_F(ListBytesTest, AttemptsEndWithTheLastThatFitsAndGoOnBehindIt) {
  const int64_t id = PutOne();
  for (int attempt = 0; attempt < 5; ++attempt) {
    Settle({TakeOne()}, Action::kRetry);
    LetTimePass();
  }
  Sql("UPDATE skiplane.history SET payload = repeat('x', 1048576)::bytea");
  std::vector<int32_t> seen;
  std::vector<size_t> sizes;
  absl::Time before = absl::InfiniteFuture();
  for (bool has_more = true; has_more;) {
    const auto page = Required(ListAttempts(*session_, {lane_, id}, before, 100, kForTwo));
    for (const model::Attempt& attempt : page.items) seen.push_back(attempt.attempt);
    sizes.push_back(page.items.size());
    before = page.items.back().end_time;
    has_more = page.has_more;
  }
  EXPECT_THAT(seen, ElementsAre(5, 4, 3, 2, 1));
  EXPECT_THAT(sizes, ElementsAre(2, 2, 1));
  const auto one = Required(ListAttempts(*session_, {lane_, id}, absl::InfiniteFuture(), 100, 0));
  EXPECT_THAT(one.items, SizeIs(1));
  const auto four =
      Required(ListAttempts(*session_, {lane_, id}, absl::InfiniteFuture(), 4, INT64_MAX));
  EXPECT_THAT(four.items, SizeIs(4));
  EXPECT_TRUE(four.has_more);
}

TEST_F(ListBytesTest, ErrorGroupsEndWithTheLastThatFits) {
  for (int i = 0; i < 5; ++i) {
    PutOne();
    SettleBatch batch = Batch({TakeOne()}, Action::kFail);
    const model::TaskError error{"E", std::string(9000, 'x'), absl::StrCat("print", i)};
    batch.rows[0].error = &error;
    Required(store::Settle(*session_, batch));
  }
  ErrorCursor after;
  const auto page = Required(
      ListErrorGroups(*session_, {{lane_}, {lane_}}, std::nullopt, after, 100, 10'000));
  ASSERT_THAT(page.items, SizeIs(2));
  EXPECT_TRUE(page.has_more);
  after = {absl::ToUnixMicros(page.items[1].last_seen_time), 0, page.items[1].fingerprint, lane_};
  const auto rest =
      Required(ListErrorGroups(*session_, {{lane_}, {lane_}}, std::nullopt, after, 100, INT64_MAX));
  EXPECT_THAT(rest.items, SizeIs(3));
  EXPECT_FALSE(rest.has_more);
}

TEST_F(ListBytesTest, AuditRecordsEndWithTheLastThatFits) {
  for (int i = 0; i < 3; ++i) {
    const std::string json = absl::StrCat(R"({"x": ")", std::string(5000, 'x'), R"("})");
    ASSERT_THAT(AddAudit(*session_, {"ann", "Test", json}, "q", i), IsOk());
  }
  const auto page = Required(ListAudit(*session_, {"q"}, INT64_MAX, 100, 12'000));
  ASSERT_THAT(page.records.items, SizeIs(2));
  ASSERT_TRUE(page.before.has_value());
  const auto rest = Required(ListAudit(*session_, {"q"}, *page.before, 100, 12'000));
  EXPECT_THAT(rest.records.items, SizeIs(1));
  EXPECT_FALSE(rest.before.has_value());
}

TEST_F(ListBytesTest, BulkOperationsEndWithTheLastThatFits) {
  for (int i = 0; i < 3; ++i) {
    NewBulk bulk;
    bulk.id = model::NewSessionId();
    bulk.filter.queue = "q";
    bulk.filter.states.ready = true;
    bulk.filter.headers = {{"h", std::string(4096, 'h')}};
    bulk.lanes = {lane_};
    ASSERT_THAT(CreateBulk(*session_, bulk), IsOk());
  }
  const auto page = Required(ListBulks(*session_, absl::InfiniteFuture(), {}, 100, 10'000));
  ASSERT_THAT(page.items, SizeIs(2));
  EXPECT_TRUE(page.has_more);
  const model::BulkOperation& last = page.items[1];
  EXPECT_THAT(Required(ListBulks(*session_, last.create_time, last.id, 100, 10'000)).items,
              SizeIs(1));
}

TEST_F(ListBytesTest, QueuesEndWithTheLastThatFitsButNotForBrokersThemselves) {
  model::QueueSettings settings;
  for (int i = 0; i < 100; ++i) {
    settings.stages.emplace_back().name = absl::StrCat(std::string(60, 's'), i);
  }
  for (const char* name : {"z-a", "z-b", "z-c"}) {
    EXPECT_TRUE(Required(CreateQueue(*session_, name, settings, 1)));
  }
  const auto one = Required(ListQueuePage(*session_, "z", 1, INT64_MAX));
  EXPECT_TRUE(one.has_more);
  const auto page = Required(ListQueuePage(*session_, "z", 100, one.bytes * 5 / 2));
  ASSERT_THAT(page.items, SizeIs(2));
  EXPECT_TRUE(page.has_more);
  EXPECT_FALSE(Required(ListQueuePage(*session_, "z-b", 100, one.bytes)).has_more);
  EXPECT_THAT(Required(ListQueues(*session_, "z", 100)), SizeIs(3));
}

TEST_F(ListBytesTest, StatisticsGoOnAfterTheLastHour) {
  Sql(absl::StrCat("INSERT INTO skiplane.hour_statistics SELECT ", lane_,
                   ", date_trunc('hour', now()) - h * interval '1 hour', 0, o, 1, 1, 1, 1"
                   " FROM generate_series(1, 3) h, generate_series(1, 2) o"));
  StatisticsRange range;
  range.start = absl::Now() - absl::Hours(24);
  range.end = absl::InfiniteFuture();
  size_t seen = 0;
  for (bool has_more = true; has_more;) {
    const auto page = Required(ReadStatistics(*session_, {lane_}, range, 4));
    seen += page.items.size();
    has_more = page.has_more;
    ASSERT_FALSE(page.items.empty());
    range.after_hour = page.items.back().start_time;
    range.after_stage = page.items.back().stage;
    range.after_outcome = static_cast<int16_t>(page.items.back().outcome);
  }
  EXPECT_EQ(seen, 6u);
}

}  // namespace
}  // namespace skiplane::store
