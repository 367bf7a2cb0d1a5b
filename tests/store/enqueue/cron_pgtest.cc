// The functions of migrations/0001_first/70_cron.sql; tests/property/cron_test.py has the random
// cases.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "tests/store/store_harness.h"

namespace skiplane::store {
namespace {

using ::testing::HasSubstr;

struct TimeCase {
  const char* cron;
  const char* after;  // in UTC, as the planned times
  const char* times;  // as many as are looked for
};

struct TextCase {
  const char* text;
  const char* wanted;
};

class CronTest : public testing::StoreHarness {
 protected:
  static std::string Quoted(absl::string_view text) {
    return absl::StrCat("'", absl::StrReplaceAll(text, {{"'", "''"}}), "'");
  }

  // `setup` runs before, in the same session.
  std::string Times(const TimeCase& wanted, const std::string& zone,
                    const std::string& setup = "") const {
    const absl::string_view times = wanted.times;
    const auto commas = std::count(times.begin(), times.end(), ',');
    const std::string next = absl::StrCat("skiplane.cron_next(", Quoted(wanted.cron), ", ", zone);
    return Sql(absl::StrCat(
        setup, "WITH RECURSIVE plan (n, t) AS (SELECT 0, ", next, ", '", wanted.after,
        "Z') UNION ALL SELECT n + 1, ", next, ", t) FROM plan WHERE n < ", commas,
        ") SELECT string_agg(to_char(t AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.MS'), ', ' "
        "ORDER BY n) FROM plan"));
  }

  void ExpectTimes(const std::string& zone, const std::vector<TimeCase>& cases) const {
    for (const TimeCase& wanted : cases) {
      const std::string times = Times(wanted, zone);
      EXPECT_EQ(absl::StrReplaceAll(times, {{".000", ""}}), wanted.times)
          << wanted.cron << " after " << wanted.after << " in " << zone;
    }
  }

  std::string Problem(const std::string& cron, const std::string& zone) const {
    return Sql(absl::StrCat("SELECT skiplane.cron_problem(", cron, ", ", zone, ")"));
  }

  // SQLSTATE and message of an expression that fails.
  std::string Failure(const std::string& expression) const {
    Sql("CREATE OR REPLACE FUNCTION failure(what text) RETURNS text LANGUAGE plpgsql AS $$ BEGIN "
        "EXECUTE 'SELECT ' || what; RETURN 'none'; "
        "EXCEPTION WHEN OTHERS THEN RETURN SQLSTATE || ' ' || SQLERRM; END $$");
    return Sql(absl::StrCat("SELECT failure(", Quoted(expression), ")"));
  }
};

TEST_F(CronTest, AFieldIsAMask) {
  for (const auto& [arguments, bits] : std::vector<TextCase>{
           {"'*', 0, 3, NULL", "1111"},
           {"'2', 0, 59, NULL", "100"},
           {"'02,0', 0, 59, NULL", "101"},
           {"'1-3', 0, 59, NULL", "1110"},
           {"'*/2', 0, 5, NULL", "10101"},
           {"'*/2', 1, 5, NULL", "101010"},
           {"'1-5/2', 0, 59, NULL", "101010"},
           {"'1/2', 0, 6, NULL", "101010"},
           {"'3-3', 0, 6, NULL", "1000"},
           {"'0,3-4,*/6', 0, 6, NULL", "1011001"},
           {"'feb,Mar', 1, 12, '{JAN,FEB,MAR}'", "1100"},
           {"'JAN-MAR/2', 1, 12, '{JAN,FEB,MAR}'", "1010"},
           {"'FRI-SUN', 0, 7, '{SUN,MON,TUE,WED,THU,FRI,SAT,SUN}'", "11100000"},
           {"'SUN-MON', 0, 7, '{SUN,MON,TUE,WED,THU,FRI,SAT,SUN}'", "11"},
       }) {
    EXPECT_EQ(Sql(absl::StrCat("SELECT ltrim(skiplane.cron_mask(", arguments,
                               ")::bit(64)::text, '0')")),
              bits)
        << arguments;
  }
  EXPECT_EQ(Sql("SELECT skiplane.cron_mask('*', 0, 59, NULL)"), "1152921504606846975");
}

TEST_F(CronTest, TimesOfTheDay) {
  ExpectTimes("'UTC'", {
      {"* * * * *", "2026-01-01 00:00:00", "2026-01-01 00:01:00, 2026-01-01 00:02:00"},
      {"* * * * *", "2026-01-01 00:00:00.000001", "2026-01-01 00:01:00"},
      {"* * * * *", "2025-12-31 23:59:59.999999", "2026-01-01 00:00:00, 2026-01-01 00:01:00"},
      {"*/20 * * * *", "2026-01-01 00:39:59",
       "2026-01-01 00:40:00, 2026-01-01 01:00:00, 2026-01-01 01:20:00"},
      {"7,3,5-6 * * * *", "2026-01-01 00:03:00",
       "2026-01-01 00:05:00, 2026-01-01 00:06:00, 2026-01-01 00:07:00, 2026-01-01 01:03:00"},
      {"50/5 22 * * *", "2026-01-01 00:00:00",
       "2026-01-01 22:50:00, 2026-01-01 22:55:00, 2026-01-02 22:50:00"},
      {"* * * * * *", "2026-01-01 00:00:00.5", "2026-01-01 00:00:01, 2026-01-01 00:00:02"},
      {"*/40 59 23 * * *", "2026-01-01 00:00:00",
       "2026-01-01 23:59:00, 2026-01-01 23:59:40, 2026-01-02 23:59:00"},
      {" \t0  12 *\t* * ", "2026-01-01 00:00:00", "2026-01-01 12:00:00"},
      {"0 0 * * *", "1969-12-30 00:00:00", "1969-12-31 00:00:00, 1970-01-01 00:00:00"},
      {"59 59 23 31 12 *", "1969-12-30 00:00:00", "1969-12-31 23:59:59, 1970-12-31 23:59:59"},
  });
}

TEST_F(CronTest, TimesOfTheCalendar) {
  ExpectTimes("'UTC'", {
      // A Thursday.
      {"0 0 * * 1-5", "2026-01-01 00:00:00", "2026-01-02 00:00:00, 2026-01-05 00:00:00"},
      {"0 0 * * 0", "2026-01-01 00:00:00", "2026-01-04 00:00:00, 2026-01-11 00:00:00"},
      {"0 0 * * 7", "2026-01-01 00:00:00", "2026-01-04 00:00:00, 2026-01-11 00:00:00"},
      {"0 0 * * sun", "2026-01-01 00:00:00", "2026-01-04 00:00:00, 2026-01-11 00:00:00"},
      {"0 0 * * sat-SUN", "2026-01-04 00:00:00", "2026-01-10 00:00:00, 2026-01-11 00:00:00"},
      {"30 5,6 * * MON", "2026-01-04 05:45:00", "2026-01-05 05:30:00, 2026-01-05 06:30:00"},
      {"0 0 31 * *", "2026-01-31 00:00:00", "2026-03-31 00:00:00, 2026-05-31 00:00:00"},
      {"0 0 30 * *", "2026-01-30 00:00:00", "2026-03-30 00:00:00"},
      {"0 0 1 jan,JUL *", "2026-01-01 00:00:00", "2026-07-01 00:00:00, 2027-01-01 00:00:00"},
      {"0 0 29 2 *", "2026-01-01 00:00:00", "2028-02-29 00:00:00, 2032-02-29 00:00:00"},
      {"0 0 29 2 *", "2095-01-01 00:00:00", "2096-02-29 00:00:00, 2104-02-29 00:00:00"},
      {"0 0 29 2 *", "1999-01-01 00:00:00", "2000-02-29 00:00:00, 2004-02-29 00:00:00"},
      // The 29 February that is a Sunday, across a century without one.
      {"0 0 29 2 */7", "2088-02-01 00:00:00", "2088-02-29 00:00:00, 2128-02-29 00:00:00"},
  });
}

TEST_F(CronTest, EitherDayFieldIsEnoughWhenBothAreRestricted) {
  ExpectTimes("'UTC'", {
      {"0 0 13 * FRI", "2026-01-08 00:00:00",
       "2026-01-09 00:00:00, 2026-01-13 00:00:00, 2026-01-16 00:00:00"},
      {"0 0 30 2 MON", "2026-01-30 00:00:00", "2026-02-02 00:00:00"},
      {"0 0 */10 * FRI", "2026-01-01 00:00:00", "2026-05-01 00:00:00"},
      {"0 0 13 * */5", "2026-01-01 00:00:00", "2026-02-13 00:00:00"},
      {"0 0 1-31 * FRI", "2026-01-01 00:00:00", "2026-01-02 00:00:00, 2026-01-03 00:00:00"},
  });
}

TEST_F(CronTest, MacrosStandForFields) {
  ExpectTimes("'UTC'", {
      {"@hourly", "2026-01-01 00:30:00", "2026-01-01 01:00:00, 2026-01-01 02:00:00"},
      {"@daily", "2026-01-01 00:30:00", "2026-01-02 00:00:00, 2026-01-03 00:00:00"},
      {"@midnight", "2026-01-01 00:30:00", "2026-01-02 00:00:00, 2026-01-03 00:00:00"},
      {"@weekly", "2026-01-01 00:30:00", "2026-01-04 00:00:00, 2026-01-11 00:00:00"},
      {"@monthly", "2026-01-01 00:30:00", "2026-02-01 00:00:00, 2026-03-01 00:00:00"},
      {"@Yearly", "2026-01-01 00:30:00", "2027-01-01 00:00:00, 2028-01-01 00:00:00"},
      {" @annually ", "2026-01-01 00:30:00", "2027-01-01 00:00:00, 2028-01-01 00:00:00"},
  });
}

TEST_F(CronTest, ASkippedTimeMovesForwardByWhatIsSkipped) {
  ExpectTimes("'Europe/Berlin'", {
      {"30 2 * * *", "2026-03-28 00:00:00",
       "2026-03-28 01:30:00, 2026-03-29 01:30:00, 2026-03-30 00:30:00"},
      {"30 2,3 * * *", "2026-03-28 12:00:00",
       "2026-03-29 01:30:00, 2026-03-30 00:30:00, 2026-03-30 01:30:00"},
      {"*/30 * * * *", "2026-03-29 00:00:00",
       "2026-03-29 00:30:00, 2026-03-29 01:00:00, 2026-03-29 01:30:00, 2026-03-29 02:00:00"},
      {"30 2 29 3 *", "2024-06-01 00:00:00", "2025-03-29 01:30:00, 2026-03-29 01:30:00"},
      {"30 2 * * *", "2026-03-29 01:15:00", "2026-03-29 01:30:00"},
      {"30 2 * * *", "2026-03-29 01:30:00", "2026-03-30 00:30:00"},
  });
  ExpectTimes("'America/New_York'",
              {{"30 2 * * *", "2026-03-07 12:00:00", "2026-03-08 07:30:00, 2026-03-09 06:30:00"}});
  ExpectTimes("'Australia/Lord_Howe'",  // half an hour
              {{"15 2 * * *", "2026-10-03 00:00:00", "2026-10-03 15:45:00, 2026-10-04 15:15:00"}});
  ExpectTimes("'Asia/Kathmandu'",  // from +5:30 to +5:45 at midnight
              {{"10 0 * * *", "1985-12-31 12:00:00", "1985-12-31 18:40:00, 1986-01-01 18:25:00"}});
  ExpectTimes("'America/Sao_Paulo'",  // at midnight
              {{"0 0 * * *", "2018-11-03 12:00:00", "2018-11-04 03:00:00, 2018-11-05 02:00:00"}});
  ExpectTimes("'Pacific/Apia'",  // a whole day
              {{"0 12 * * *", "2011-12-29 00:00:00",
                "2011-12-29 22:00:00, 2011-12-30 22:00:00, 2011-12-31 22:00:00"},
               {"0 12 30 12 *", "2011-12-30 12:00:00", "2011-12-30 22:00:00"}});
}

TEST_F(CronTest, ARepeatedTimeIsPlannedTwiceOnlyIfTheHourFieldBeginsWithAStar) {
  ExpectTimes("'Europe/Berlin'", {
      {"30 2 * * *", "2026-10-24 12:00:00", "2026-10-25 00:30:00, 2026-10-26 01:30:00"},
      {"30 2 * * *", "2026-10-25 00:45:00", "2026-10-26 01:30:00"},
      {"30 2 * * *", "2026-10-25 01:15:00", "2026-10-26 01:30:00"},
      {"59 2 * * *", "2026-10-25 01:30:00", "2026-10-26 01:59:00"},
      {"0 3 * * *", "2026-10-24 12:00:00", "2026-10-25 02:00:00"},
      {"*/30 2 * * *", "2026-10-24 23:45:00",
       "2026-10-25 00:00:00, 2026-10-25 00:30:00, 2026-10-26 01:00:00"},
      {"30 2 25 10 *", "2026-01-01 00:00:00", "2026-10-25 00:30:00, 2027-10-25 00:30:00"},
      {"30 * * * *", "2026-10-24 23:45:00",
       "2026-10-25 00:30:00, 2026-10-25 01:30:00, 2026-10-25 02:30:00"},
      {"0 */2 * * *", "2026-10-24 22:30:00",
       "2026-10-25 00:00:00, 2026-10-25 01:00:00, 2026-10-25 03:00:00"},
      {"30 0-23 * * *", "2026-10-24 23:45:00", "2026-10-25 00:30:00, 2026-10-25 02:30:00"},
  });
  ExpectTimes("'America/New_York'", {
      {"30 1 * * *", "2026-10-31 12:00:00", "2026-11-01 05:30:00, 2026-11-02 06:30:00"},
      {"@hourly", "2026-11-01 04:30:00",
       "2026-11-01 05:00:00, 2026-11-01 06:00:00, 2026-11-01 07:00:00"},
  });
  ExpectTimes("'Australia/Lord_Howe'", {
      {"45 1 * * *", "2026-04-04 00:00:00", "2026-04-04 14:45:00, 2026-04-05 15:15:00"},
      {"15 2 * * *", "2026-04-04 00:00:00", "2026-04-04 15:45:00, 2026-04-05 15:45:00"},
      {"45 * * * *", "2026-04-04 14:00:00",
       "2026-04-04 14:45:00, 2026-04-04 15:15:00, 2026-04-04 16:15:00"},
  });
  ExpectTimes("'America/Sao_Paulo'", {
      {"30 23 * * *", "2018-02-17 12:00:00", "2018-02-18 01:30:00, 2018-02-19 02:30:00"},
      {"30 23 * * *", "2026-02-17 12:00:00", "2026-02-18 02:30:00, 2026-02-19 02:30:00"},
  });
}

TEST_F(CronTest, AZoneIsOneOfIanaAndNotAnAbbreviation) {
  ExpectTimes("'CET'", {{"0 12 * * *", "2026-07-01 00:00:00", "2026-07-01 10:00:00"}});
  ExpectTimes("'Asia/Kathmandu'", {{"0 9 * * *", "2026-01-01 00:00:00", "2026-01-01 03:15:00"}});
  ExpectTimes("NULL", {{"0 9 * * *", "2026-01-01 00:00:00", "2026-01-01 09:00:00"}});
  EXPECT_EQ(Problem("'* * * * *'", "'America/Argentina/Buenos_Aires'"), "");
  EXPECT_EQ(Problem("'* * * * *'", "'Etc/GMT-14'"), "");
  EXPECT_EQ(Problem("'* * * * *'", "NULL"), "");
  for (const char* const zone :
       {"Mars/Olympus", "Europe/Berlin2", "CEST", "+02", "UTC+3", "", " UTC", ":UTC", "Europe"}) {
    EXPECT_EQ(Problem("'* * * * *'", Quoted(zone)),
              absl::StrCat("time_zone: time zone \"", zone, "\" not recognized"));
  }
  EXPECT_THAT(Failure("skiplane.cron_next('* * * * *', 'Mars/Olympus', now())"),
              ::testing::AllOf(HasSubstr("22023"), HasSubstr("Mars/Olympus")));
}

TEST_F(CronTest, AScheduleThatIsWrongIsRefusedWithTheReason) {
  for (const auto& [cron, problem] : std::vector<TextCase>{
           {"", "text has 0 fields, must have 5, or 6 with seconds first"},
           {"* * * *", "text has 4 fields, must have 5, or 6 with seconds first"},
           {"* * * * * * *", "text has 7 fields, must have 5, or 6 with seconds first"},
           {"@hourly *", "text has 2 fields, must have 5, or 6 with seconds first"},
           {"@fortnightly", "macro \"@fortnightly\" is not known"},
           {"60 * * * *", "minute \"60\" must be 0 to 59"},
           {"60 * * * * *", "second \"60\" must be 0 to 59"},
           {"* 24 * * *", "hour \"24\" must be 0 to 23"},
           {"* * 0 * *", "day of month \"0\" must be 1 to 31"},
           {"* * 1-32 * *", "day of month \"1-32\" must be 1 to 31"},
           {"* * * 13 *", "month \"13\" must be 1 to 12, or a name such as JAN"},
           {"* * * FOO *", "month \"FOO\" must be 1 to 12, or a name such as JAN"},
           {"* * * JAN-FOO *", "month \"JAN-FOO\" must be 1 to 12, or a name such as JAN"},
           {"* * * * 8", "day of week \"8\" must be 0 to 7, or a name such as SUN"},
           {"* * * * JAN", "day of week \"JAN\" must be 0 to 7, or a name such as SUN"},
           {"* FRI * * *", "hour \"FRI\" must be 0 to 23"},
           {"30-10 * * * *", "minute \"30-10\" runs backwards"},
           {"* * * * SAT-MON", "day of week \"SAT-MON\" runs backwards"},
           {"*/0 * * * *", "minute \"*/0\" must have a step of 1 to 60"},
           {"*/61 * * * *", "minute \"*/61\" must have a step of 1 to 60"},
           {"1-5/0 * * * *", "minute \"1-5/0\" must have a step of 1 to 60"},
           {"1,,2 * * * *", "minute \"\" is not a value, a range or a step"},
           {"1, * * * *", "minute \"\" is not a value, a range or a step"},
           {"-5 * * * *", "minute \"-5\" is not a value, a range or a step"},
           {"5- * * * *", "minute \"5-\" is not a value, a range or a step"},
           {"*-5 * * * *", "minute \"*-5\" is not a value, a range or a step"},
           {"1/2/3 * * * *", "minute \"1/2/3\" is not a value, a range or a step"},
           {"1.5 * * * *", "minute \"1.5\" is not a value, a range or a step"},
           {"99999999999999999999 * * * *",
            "minute \"99999999999999999999\" is not a value, a range or a step"},
           {"* * L * *", "day of month \"L\" must be 1 to 31"},
           {"* * ? * *", "day of month \"?\" is not a value, a range or a step"},
           {"0 0 30 2 *", "schedule never matches"},
           {"0 0 31 4,6,9,11 *", "schedule never matches"},
       }) {
    EXPECT_EQ(Problem(Quoted(cron), "'Mars/Olympus'"), absl::StrCat("cron: ", problem));
    EXPECT_EQ(Failure(absl::StrCat("skiplane.cron_next(", Quoted(cron), ", 'UTC', now())")),
              absl::StrCat("22023 ", problem));
  }
  EXPECT_EQ(Problem("repeat('*', 1001)", "NULL"),
            "cron: text of 1001 characters must have at most 1000");
  EXPECT_EQ(Problem("NULL", "NULL"), "cron: text is missing");
  EXPECT_EQ(Problem("'*/5 * * * *'", "'Europe/Berlin'"), "");
  EXPECT_THAT(Failure("skiplane.cron_next('* * * * *', 'UTC', '-infinity')"), HasSubstr("22023"));
  EXPECT_EQ(Sql("SELECT skiplane.cron_next('* * * * *', 'UTC', NULL) IS NULL"), "t");
}

TEST_F(CronTest, TheSettingsOfTheSessionDoNotMatter) {
  const TimeCase nightly = {"30 2 * * MON-SUN", "2026-03-28 12:00:00",
                            "2026-03-29 01:30:00.000, 2026-03-30 00:30:00.000"};
  for (const char* const setting :
       {"TimeZone = 'Australia/Lord_Howe'", "TimeZone = 'America/Sao_Paulo'",
        "IntervalStyle = sql_standard", "DateStyle = 'SQL, DMY'", "search_path = ''",
        "plan_cache_mode = force_generic_plan", "extra_float_digits = -15"}) {
    EXPECT_EQ(Times(nightly, "'Europe/Berlin'", absl::StrCat("SET ", setting, "; ")), nightly.times)
        << setting;
  }
}

TEST_F(CronTest, FunctionsThatHideThoseOfPostgresDoNotMatter) {
  Sql("CREATE SCHEMA trap; "
      "CREATE FUNCTION trap.date_part(text, timestamp) RETURNS float8 "
      "LANGUAGE sql RETURN 0::float8; "
      "CREATE FUNCTION trap.bit_count(bit) RETURNS int8 LANGUAGE sql RETURN 0::int8; "
      "CREATE FUNCTION trap.replace(text, text, text) RETURNS text LANGUAGE sql RETURN ''; "
      "CREATE FUNCTION trap.nothing(int8, int8) RETURNS int8 LANGUAGE sql RETURN 0::int8; "
      "CREATE FUNCTION trap.never(timestamptz, timestamptz) RETURNS bool "
      "LANGUAGE sql RETURN false; "
      "CREATE OPERATOR trap.- (FUNCTION = trap.nothing, LEFTARG = int8, RIGHTARG = int8); "
      "CREATE OPERATOR trap.* (FUNCTION = trap.nothing, LEFTARG = int8, RIGHTARG = int8); "
      "CREATE OPERATOR trap.> (FUNCTION = trap.never, LEFTARG = timestamptz, "
      "RIGHTARG = timestamptz)");
  const std::string trapped = "SET search_path = trap, pg_catalog; ";
  ASSERT_EQ(Sql(trapped + "SELECT 2::int8 * 3::int8"), "0");
  const TimeCase daily = {"30 2 * * *", "2026-03-28 12:00:00",
                          "2026-03-29 01:30:00.000, 2026-03-30 00:30:00.000"};
  EXPECT_EQ(Times(daily, "'Europe/Berlin'", trapped), daily.times);
  EXPECT_EQ(Sql(trapped + "SELECT skiplane.cron_problem('0 0 30 2 *', 'UTC')"),
            "cron: schedule never matches");
  EXPECT_EQ(Sql(trapped + "SELECT skiplane.next_planned_time('2026-01-01 Z', 60000000, NULL, "
                          "NULL, NULL, "
                          "'2026-01-01 00:05:30 Z') = '2026-01-01 00:06 Z'::timestamptz"),
            "t");
}

}  // namespace
}  // namespace skiplane::store
