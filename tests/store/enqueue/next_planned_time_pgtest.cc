// When a periodic task runs next: skiplane.next_planned_time of migrations/0001_first/70_cron.sql.
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "tests/store/store_harness.h"

namespace skiplane::store {
namespace {

struct NextCase {
  const char* planned;  // times are in UTC
  const char* at;
  const char* next;
};

class NextPlannedTimeTest : public testing::StoreHarness {
 protected:
  // `rule` is period, cron, time zone, catch_up.
  void ExpectNext(const std::string& rule, const std::vector<NextCase>& cases) const {
    for (const NextCase& each : cases) {
      const std::string next =
          Sql(absl::StrCat("SELECT skiplane.next_planned_time('", each.planned, "Z', ", rule, ", '",
                           each.at, "Z') AT TIME ZONE 'UTC'"));
      EXPECT_EQ(next, each.next)
          << rule << ": planned " << each.planned << ", ended " << each.at;
    }
  }
};

constexpr char kSecond[] = "1000000, NULL, NULL, NULL";
constexpr char kEverySecond[] = "1000000, NULL, NULL, 2";

TEST_F(NextPlannedTimeTest, APeriodSkipsWhatWasMissed) {
  ExpectNext(kSecond, {
      {"2026-01-01 00:00:01", "2026-01-01 00:00:01.5", "2026-01-01 00:00:02"},
      {"2026-01-01 00:00:01", "2026-01-01 00:00:05.5", "2026-01-01 00:00:06"},
      // The end of a run at the very time of a tick is not before it.
      {"2026-01-01 00:00:01", "2026-01-01 00:00:05", "2026-01-01 00:00:06"},
      {"2026-01-01 00:00:01", "2026-01-01 00:00:04.999999", "2026-01-01 00:00:05"},
      {"2026-01-01 00:00:01", "2026-01-01 00:00:01", "2026-01-01 00:00:02"},
      {"2026-01-01 00:00:01.25", "2026-01-01 00:00:05.5", "2026-01-01 00:00:06.25"},
  });
}

TEST_F(NextPlannedTimeTest, APeriodThatRunsAllGoesOnFromThePlan) {
  ExpectNext(kEverySecond, {
      {"2026-01-01 00:00:01", "2026-01-01 00:00:01.5", "2026-01-01 00:00:02"},
      {"2026-01-01 00:00:01", "2026-01-01 00:00:05.5", "2026-01-01 00:00:02"},
      {"2026-01-01 00:00:01", "2026-06-01 00:00:00", "2026-01-01 00:00:02"},
  });
}

TEST_F(NextPlannedTimeTest, AnExtraRunBeforeItsTimeLeavesThePlan) {
  for (const char* const rule : {kSecond, kEverySecond, "NULL, '0 0 * * *', NULL, NULL",
                                 "NULL, '0 0 * * *', NULL, 2"}) {
    ExpectNext(rule, {
        {"2026-01-01 12:34:56.5", "2026-01-01 12:34:56.499999", "2026-01-01 12:34:56.5"},
        {"2026-01-01 12:34:56.5", "2025-01-01 00:00:00", "2026-01-01 12:34:56.5"},
    });
  }
}

TEST_F(NextPlannedTimeTest, NoMicrosecondIsLostOverDecades) {
  ExpectNext("1000003, NULL, NULL, NULL",
             {{"2000-01-01 00:00:00.000001", "2090-01-01 00:00:00", "2090-01-01 00:00:00.656041"}});
  ExpectNext("7, NULL, NULL, NULL",
             {{"1990-01-01 00:00:00", "2089-12-31 23:59:59.999999", "2090-01-01 00:00:00.000006"}});
  ExpectNext("1, NULL, NULL, NULL",
             {{"2000-01-01 00:00:00", "2090-01-01 00:00:00.123456", "2090-01-01 00:00:00.123457"}});
  // Ninety years and a microsecond in one step.
  ExpectNext("2840227200000001, NULL, NULL, 2",
             {{"2000-01-01 00:00:00", "2000-01-01 00:00:00", "2090-01-01 00:00:00.000001"}});
}

TEST_F(NextPlannedTimeTest, ADayOfAPeriodIsTwentyFourHoursInAnySession) {
  EXPECT_EQ(Sql("SET TimeZone = 'Europe/Berlin'; "
                "SELECT skiplane.next_planned_time('2026-03-28 12:00Z', 86400000000, NULL, NULL, "
                "NULL, "
                "'2026-03-28 13:00Z')"),
            "2026-03-29 14:00:00+02");
}

TEST_F(NextPlannedTimeTest, AScheduleSkipsWhatWasMissed) {
  ExpectNext("NULL, '0 3 * * *', 'Europe/Berlin', NULL", {
      {"2026-03-27 02:00:00", "2026-03-27 02:00:00", "2026-03-28 02:00:00"},
      {"2026-03-27 02:00:00", "2026-03-30 00:30:00", "2026-03-30 01:00:00"},
      {"2026-03-27 02:00:00", "2026-03-30 01:00:00", "2026-03-31 01:00:00"},
  });
}

TEST_F(NextPlannedTimeTest, AScheduleThatRunsAllGoesOnFromThePlan) {
  ExpectNext("NULL, '0 3 * * *', 'Europe/Berlin', 2", {
      {"2026-03-27 02:00:00", "2026-03-27 02:00:00", "2026-03-28 02:00:00"},
      {"2026-03-28 02:00:00", "2026-06-01 00:00:00", "2026-03-29 01:00:00"},
  });
}

TEST_F(NextPlannedTimeTest, WithoutAZoneAScheduleIsInUtc) {
  ExpectNext("NULL, '0 3 * * *', NULL, NULL",
             {{"2026-03-27 03:00:00", "2026-07-01 12:00:00", "2026-07-02 03:00:00"}});
}

TEST_F(NextPlannedTimeTest, AStatementGetsTheExpressionInsteadOfACall) {
  EXPECT_THAT(Sql("EXPLAIN (VERBOSE, FORMAT JSON) "
                  "SELECT skiplane.next_planned_time(schedule_time, lease_number, key, "
                  "error_type, 2, now()) FROM skiplane.task"),
              ::testing::Not(::testing::HasSubstr("next_planned_time")));
}

}  // namespace
}  // namespace skiplane::store
