#include <string>

#include "gtest/gtest.h"
#include "server/base/reason.h"
#include "server/model/queue.h"

namespace skiplane::model {
namespace {

QueueSettings UnusualSettings() {
  QueueSettings settings;
  settings.retry = {.kind = RetryKind::kTable,
                    .base_delay = absl::Microseconds(1),
                    .factor = 1.1,
                    .max_delay = absl::Hours(23),
                    .delays = {absl::Seconds(1), absl::Microseconds(1500001)},
                    .jitter = 0.1,
                    .max_attempts = 77};
  settings.history = HistoryPolicy::kFailures;
  settings.lease_duration = absl::Seconds(90);
  settings.max_payload_bytes = 4096;
  settings.stages = {{.name = "first",
                      .retry = settings.retry,
                      .lease_duration = absl::Seconds(7),
                      .max_run_duration = absl::Minutes(3)},
                     {.name = "second", .retry = {}, .lease_duration = {}, .max_run_duration = {}}};
  settings.max_run_duration = absl::Hours(3);
  settings.periodic_history = HistoryPolicy::kAll;
  settings.history_days = 3;
  settings.failed_days = 400;
  settings.keep_payloads = true;
  settings.keep_results = true;
  settings.packing = Packing::kOff;
  settings.limits = {
      .max_depth = 1000000000, .max_bytes = kQueueBytesMax, .max_enqueue_rate = 0.25};
  return settings;
}

TEST(SettingsJsonTest, TheTextIsWhatTheTablesOfReleasedVersionsHold) {
  EXPECT_EQ(SettingsToJson(QueueSettings()),
            R"({"failed_days":30,"history":"all","history_days":7,"keep_payloads":false,)"
            R"("keep_results":false,"lease_duration_us":30000000,)"
            R"("max_payload_bytes":1048576,"max_run_duration_us":3600000000,)"
            R"("periodic_history":"failures","retry":{"base_delay_us":300000000,"delays_us":[],)"
            R"("factor":2.0,"jitter":0.0,"kind":"linear","max_attempts":10,)"
            R"("max_delay_us":86400000000},"stages":[]})");
}

TEST(SettingsJsonTest, EverySettingSurvivesItsText) {
  const absl::StatusOr<QueueSettings> read = SettingsFromJson(SettingsToJson(UnusualSettings()));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(*read, UnusualSettings());
}

TEST(SettingsJsonTest, EveryNameOfAKindAndAPolicySurvives) {
  for (const RetryKind kind :
       {RetryKind::kLinear, RetryKind::kFixed, RetryKind::kExponential, RetryKind::kTable}) {
    QueueSettings settings;
    settings.retry.kind = kind;
    EXPECT_EQ(SettingsFromJson(SettingsToJson(settings))->retry.kind, kind);
  }
  for (const HistoryPolicy policy :
       {HistoryPolicy::kAll, HistoryPolicy::kFailures, HistoryPolicy::kNone}) {
    QueueSettings settings;
    settings.history = policy;
    EXPECT_EQ(SettingsFromJson(SettingsToJson(settings))->history, policy);
  }
}

TEST(SettingsJsonTest, MissingMembersTakeTheirDefaults) {
  EXPECT_EQ(*SettingsFromJson("{}"), QueueSettings());
  QueueSettings expected;
  expected.retry.max_attempts = 3;
  EXPECT_EQ(*SettingsFromJson(R"({"retry":{"max_attempts":3}})"), expected);
}

TEST(SettingsJsonTest, MembersOfANewerVersionAreIgnored) {
  EXPECT_EQ(*SettingsFromJson(R"({"colours":["a"],"retry":{"budget":{"x":1}}})"), QueueSettings());
}

TEST(SettingsJsonTest, SpacesAndTheOrderOfMembersDoNotMatter) {
  EXPECT_EQ(*SettingsFromJson(R"( {"max_payload_bytes" : 1048576, "history": "all"} )"),
            QueueSettings());
}

TEST(SettingsJsonTest, AFactorWithoutAFractionIsANumberToo) {
  EXPECT_EQ(SettingsFromJson(R"({"retry":{"factor":3}})")->retry.factor, 3.0);
}

TEST(SettingsJsonTest, UnreadableTextIsADefectAndNotTheCallersFault) {
  for (const char* text :
       {"", "{", "[]", "null", "7", "{} {}", R"({"retry":7})", R"({"retry":{"kind":1}})",
        R"({"retry":{"kind":"quadratic"}})", R"({"history":"some"})", R"({"history":null})",
        R"({"lease_duration_us":"30s"})", R"({"lease_duration_us":1.5})",
        R"({"lease_duration_us":9223372036854775808})", R"({"max_payload_bytes":2147483648})",
        R"({"max_payload_bytes":-1})", R"({"retry":{"max_attempts":true}})",
        R"({"retry":{"delays_us":7}})", R"({"retry":{"delays_us":[1,"2"]}})",
        R"({"retry":{"jitter":"0"}})"}) {
    const absl::StatusOr<QueueSettings> read = SettingsFromJson(text);
    ASSERT_FALSE(read.ok()) << text;
    EXPECT_EQ(read.status().code(), absl::StatusCode::kInternal) << text;
    EXPECT_EQ(base::ReasonOf(read.status()), "INTERNAL_ERROR") << text;
  }
}

}  // namespace
}  // namespace skiplane::model
