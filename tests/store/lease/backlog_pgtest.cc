// What waits far behind, or is leased far ahead, does not slow a lease down. The measure is the
// number of buffers that a statement touches, which is the same on every machine.
#include "gmock/gmock.h"
#include "server/sql/queries.h"
#include "tests/sql/plan.h"
#include "tests/store/store_harness.h"

namespace skiplane::store {
namespace {

using testing::BuffersOf;

constexpr char kPriorities[] = "'{0,1,2,3}'";

class BacklogTest : public testing::StoreHarness {
 protected:
  // Rows of four priorities, written by one statement, and their counts.
  void Fill(int count, const char* schedule_time, int state) {
    const int64_t first = next_id_;
    next_id_ += count;
    Sql(absl::StrCat(
        "INSERT INTO skiplane.task (lane, id, schedule_time, create_time, due, max_attempts, "
        "priority, "
        "state, payload) SELECT ", lane_, ", i, r.at, now(), "
        "CASE WHEN r.at > now() THEN ceil(date_part('epoch', r.at) / 10)::int ELSE 0 END, 10, "
        "i % 4, ", state, ", '\\x00' FROM generate_series(", first, ", ", next_id_ - 1,
        ") i CROSS JOIN LATERAL (SELECT ", schedule_time, " AS at) r"));
    Sql(absl::StrCat("INSERT INTO skiplane.counter_delta (lane, stage, due, waiting, leased) "
                     "SELECT ", lane_, ", 0, CASE state WHEN 1 THEN due ELSE 0 END, "
                     "sum((state = 1)::int), sum((state = 2)::int) FROM skiplane.task "
                     "WHERE lane = ", lane_, " AND id BETWEEN ", first, " AND ", next_id_ - 1,
                     " GROUP BY 3"));
  }

  int64_t LeaseBuffers(int count, const std::string& bounds = "array_fill('-infinity'::timestamptz,"
                                                              " '{4}'), '{0,0,0,0}'") {
    return BuffersOf(
        *session_, sql::kTaskLease,
        absl::StrCat(lane_, ", 0, ", kPriorities, ", ", bounds, ", ", count, ", array_fill(1, '{",
                     count, "}'), array[gen_random_uuid()], array[gen_random_uuid()], '{NULL}', "
                     "'{1000000000}', 1000000000, 1000000000"));
  }

  int64_t PrioritiesBuffers() {
    return BuffersOf(*session_, sql::kLanePriorities, absl::StrCat(lane_, ", 0"));
  }

  int64_t SliceBuffers(int rows) {
    return BuffersOf(*session_, sql::kLaneProbe,
                     absl::StrCat(lane_, ", 0, 0, '-infinity', 0, ", rows));
  }
};

TEST_F(BacklogTest, AMillionDelayedTasksDoNotSlowALeaseDown) {
  Fill(1000, "now() - interval '1 hour' + i * interval '1 ms'", 1);
  Sql("VACUUM ANALYZE skiplane.task");
  const int64_t lease = LeaseBuffers(100);
  const int64_t priorities = PrioritiesBuffers();
  const int64_t slice = SliceBuffers(200);
  Fill(1'000'000, "now() + interval '1 hour' + i * interval '1 ms'", 1);
  const int64_t lease_beside = LeaseBuffers(100);
  const int64_t priorities_beside = PrioritiesBuffers();
  const int64_t slice_beside = SliceBuffers(200);
  EXPECT_LE(lease_beside, lease + 40);
  EXPECT_LE(priorities_beside, 2 * priorities);
  EXPECT_LE(slice_beside, slice + 20);
  Take(1000);
  EXPECT_LE(LeaseBuffers(100), 500) << "nothing is ready, and walking past all takes thousands";
}

TEST_F(BacklogTest, ABoundSkipsAHundredThousandLeasedTasksAtTheHead) {
  Fill(100'000, "now() - interval '2 hours' + i * interval '1 ms'", 2);
  Fill(1000, "now() - interval '1 hour' + i * interval '1 ms'", 1);
  Sql("VACUUM ANALYZE skiplane.task");
  const int64_t from_start = LeaseBuffers(100);
  const int64_t from_bound =
      LeaseBuffers(100, "array_fill(now() - interval '80 minutes', '{4}'), '{0,0,0,0}'");
  EXPECT_LE(from_bound, 600) << "six for each task that is leased";
  EXPECT_GT(from_start, 5 * from_bound) << "else this test measures nothing";
  EXPECT_EQ(Take(100).size(), 100u);
}

}  // namespace
}  // namespace skiplane::store
