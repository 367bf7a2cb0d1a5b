#include "server/rpc/broker/convert_new_task.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "server/base/reason.h"

namespace skiplane::rpc {
namespace {

struct Bad {
  std::string name;
  std::function<void(v1::NewTask&)> spoil;  // of an empty task
  std::string field;
};

void ExpectRefused(const std::vector<Bad>& table) {
  for (const Bad& bad : table) {
    SCOPED_TRACE(bad.name);
    v1::NewTask wire;
    bad.spoil(wire);
    const absl::Status status = ReadNewTask(&wire, {"", "tasks", 3}).status();
    EXPECT_EQ(base::ReasonOf(status), "INVALID_FIELD");
    EXPECT_EQ(base::FieldOf(status), "tasks[3]." + bad.field);
  }
}

std::string WithNul() { return std::string("a\0b", 3); }

model::NewTask Read(v1::NewTask wire) {
  auto task = ReadNewTask(&wire, {"", "tasks", 0});
  EXPECT_TRUE(task.ok()) << task.status();
  return task.ok() ? *std::move(task) : model::NewTask();
}

TEST(ReadNewTask, TakesEveryField) {
  v1::NewTask wire;
  wire.set_payload(std::string("\0\xff", 2));
  wire.set_content_type("text/plain");
  (*wire.mutable_headers())["b"] = "2";
  (*wire.mutable_headers())["a"] = "1";
  wire.set_priority(-32768);
  wire.mutable_delay()->set_seconds(3);
  wire.set_max_attempts(1000);
  wire.set_key("k");
  wire.set_key_policy(v1::KEY_POLICY_REPLACE_WAITING);
  wire.set_version(INT64_MAX);
  wire.set_cron("@daily");
  wire.set_time_zone("Europe/Berlin");
  wire.set_catch_up(v1::CATCH_UP_RUN_ALL);
  wire.set_stage("encode");
  wire.set_queue("video");
  const model::NewTask task = Read(wire);
  EXPECT_EQ(task.payload, std::string("\0\xff", 2));
  EXPECT_EQ(task.content_type, "text/plain");
  EXPECT_EQ(task.headers, (model::Headers{{"a", "1"}, {"b", "2"}}));
  EXPECT_EQ(task.priority, -32768);
  EXPECT_EQ(task.delay, absl::Seconds(3));
  EXPECT_EQ(task.schedule_time, std::nullopt);
  EXPECT_EQ(task.max_attempts, 1000);
  EXPECT_EQ(task.key, "k");
  EXPECT_EQ(task.key_policy, model::KeyPolicy::kReplaceWaiting);
  EXPECT_EQ(task.version, INT64_MAX);
  EXPECT_EQ(task.period, std::nullopt);
  EXPECT_EQ(task.cron, "@daily");
  EXPECT_EQ(task.time_zone, "Europe/Berlin");
  EXPECT_TRUE(task.run_all);
  EXPECT_EQ(task.stage, "encode");
  EXPECT_EQ(task.queue, "video");
}

TEST(ReadNewTask, AnEmptyTaskHasTheDefaults) {
  const model::NewTask task = Read({});
  EXPECT_FALSE(task.IsPeriodic());
  EXPECT_FALSE(task.run_all);
  EXPECT_EQ(task.key_policy, model::KeyPolicy::kKeep);
  EXPECT_EQ(task.version, 0);
  EXPECT_EQ(task.max_attempts, 0);
  EXPECT_EQ(task.stage, "");
  EXPECT_EQ(task.queue, "");
}

TEST(ReadNewTask, ASchedulePolicyIsOfAPeriodicTask) {
  v1::NewTask wire;
  wire.set_key("k");
  wire.set_key_policy(v1::KEY_POLICY_SCHEDULE);
  wire.mutable_period()->set_seconds(60);
  EXPECT_EQ(Read(wire).key_policy, model::KeyPolicy::kSchedule);
}

TEST(ReadNewTask, NamesABadNumberOfAttempts) {
  ExpectRefused({
      {"attempts_zero", [](auto& x) { x.set_max_attempts(0); }, "max_attempts"},
      {"attempts_negative", [](auto& x) { x.set_max_attempts(-1); }, "max_attempts"},
      {"attempts_too_many", [](auto& x) { x.set_max_attempts(1001); }, "max_attempts"},
  });
}

TEST(ReadNewTask, EachPolicyIsWhatItIsCalled) {
  const std::pair<v1::KeyPolicy, model::KeyPolicy> policies[] = {
      {v1::KEY_POLICY_UNSPECIFIED, model::KeyPolicy::kKeep},
      {v1::KEY_POLICY_KEEP, model::KeyPolicy::kKeep},
      {v1::KEY_POLICY_KEEP_UNFINISHED, model::KeyPolicy::kKeepUnfinished},
      {v1::KEY_POLICY_RERUN_IF_NEWER, model::KeyPolicy::kRerunIfNewer},
      {v1::KEY_POLICY_REPLACE_WAITING, model::KeyPolicy::kReplaceWaiting},
      {v1::KEY_POLICY_REJECT, model::KeyPolicy::kReject}};
  for (const auto& [wire, policy] : policies) {
    v1::NewTask task;
    task.set_key("k");
    task.set_version(1);
    task.set_key_policy(wire);
    EXPECT_EQ(Read(task).key_policy, policy);
  }
}

TEST(ReadNewTask, TheBoundsOfAPeriodBelongToIt) {
  for (const int64_t seconds : {int64_t{1}, int64_t{3653} * 86400}) {
    v1::NewTask wire;
    wire.mutable_period()->set_seconds(seconds);
    wire.set_catch_up(v1::CATCH_UP_SKIP_MISSED);
    const model::NewTask task = Read(wire);
    EXPECT_EQ(task.period, absl::Seconds(seconds));
    EXPECT_FALSE(task.run_all);
  }
}

TEST(ReadNewTask, NamesABadKeyOrVersion) {
  const auto policy = [](v1::KeyPolicy value) {
    return [value](v1::NewTask& task) { task.set_key_policy(value); };
  };
  ExpectRefused({
      {"key_too_long", [](auto& x) { x.set_key(std::string(256, 'k')); }, "key"},
      {"key_with_nul", [](auto& x) { x.set_key(WithNul()); }, "key"},
      {"policy_unknown", policy(static_cast<v1::KeyPolicy>(7)), "key_policy"},
      {"policy_negative", policy(static_cast<v1::KeyPolicy>(-1)), "key_policy"},
      {"policy_without_key", policy(v1::KEY_POLICY_KEEP), "key_policy"},
      {"version_without_key", [](auto& x) { x.set_version(1); }, "version"},
      {"version_zero",
       [](auto& x) {
         x.set_key("k");
         x.set_version(0);
       },
       "version"},
      {"version_negative",
       [](auto& x) {
         x.set_key("k");
         x.set_version(-1);
       },
       "version"},
      {"rerun_without_version",
       [](auto& x) {
         x.set_key("k");
         x.set_key_policy(v1::KEY_POLICY_RERUN_IF_NEWER);
       },
       "version"},
  });
}

TEST(ReadNewTask, NamesWhatADeclaredScheduleCannotHave) {
  ExpectRefused({
      {"schedule_without_recurrence",
       [](auto& x) {
         x.set_key("k");
         x.set_key_policy(v1::KEY_POLICY_SCHEDULE);
       },
       "key_policy"},
      {"schedule_without_key",
       [](auto& x) {
         x.set_cron("@daily");
         x.set_key_policy(v1::KEY_POLICY_SCHEDULE);
       },
       "key_policy"},
      {"schedule_with_version",
       [](auto& x) {
         x.set_key("k");
         x.set_cron("@daily");
         x.set_key_policy(v1::KEY_POLICY_SCHEDULE);
         x.set_version(1);
       },
       "version"},
  });
}

TEST(ReadNewTask, NamesABadRecurrence) {
  ExpectRefused({
      {"period_zero", [](auto& x) { x.mutable_period(); }, "period"},
      {"period_below_a_second", [](auto& x) { x.mutable_period()->set_nanos(999999999); },
       "period"},
      {"period_negative", [](auto& x) { x.mutable_period()->set_seconds(-60); }, "period"},
      {"period_beyond_10_years",
       [](auto& x) { x.mutable_period()->set_seconds(3653LL * 86400 + 1); }, "period"},
      {"cron_empty", [](auto& x) { x.set_cron(""); }, "cron"},
      {"cron_too_long", [](auto& x) { x.set_cron(std::string(256, '*')); }, "cron"},
      {"cron_with_nul", [](auto& x) { x.set_cron(WithNul()); }, "cron"},
      {"zone_without_cron", [](auto& x) { x.set_time_zone("UTC"); }, "time_zone"},
      {"zone_with_period",
       [](auto& x) {
         x.mutable_period()->set_seconds(60);
         x.set_time_zone("UTC");
       },
       "time_zone"},
      {"zone_too_long", [](auto& x) { x.set_time_zone(std::string(65, 'z')); }, "time_zone"},
      {"zone_with_nul", [](auto& x) { x.set_time_zone(WithNul()); }, "time_zone"},
      {"catch_up_unknown",
       [](auto& x) {
         x.set_cron("@daily");
         x.set_catch_up(static_cast<v1::CatchUp>(3));
       },
       "catch_up"},
      {"catch_up_without_recurrence",
       [](auto& x) { x.set_catch_up(v1::CATCH_UP_SKIP_MISSED); }, "catch_up"},
  });
}

TEST(ReadNewTask, NamesABadStage) {
  ExpectRefused({
      {"stage_too_long", [](auto& x) { x.set_stage(std::string(65, 's')); }, "stage"},
      {"stage_with_nul", [](auto& x) { x.set_stage(WithNul()); }, "stage"},
  });
}

TEST(ReadNewTask, NamesFieldsWithinWhatHoldsTheTask) {
  v1::NewTask wire;
  wire.set_version(1);
  const Field at = {"follow_ups[1]", "items", 2};
  EXPECT_EQ(base::FieldOf(ReadNewTask(&wire, at).status()),
            "items[2].follow_ups[1].version");
  wire.Clear();
  (*wire.mutable_headers())["x"] = WithNul();
  EXPECT_EQ(base::FieldOf(ReadNewTask(&wire, at).status()),
            "items[2].follow_ups[1].headers[\"x\"]");
}

TEST(ReadHeaders, SortsThemAndNamesABadOne) {
  v1::NextPayload wire;
  for (const char* key : {"c", "a", "b"}) (*wire.mutable_headers())[key] = key;
  const auto headers = ReadHeaders(wire.mutable_headers(), {"headers"});
  ASSERT_TRUE(headers.ok());
  EXPECT_EQ(*headers, (model::Headers{{"a", "a"}, {"b", "b"}, {"c", "c"}}));
  (*wire.mutable_headers())[""] = "v";
  const auto refused = ReadHeaders(wire.mutable_headers(), {"next_payload.headers", "items", 4});
  EXPECT_EQ(base::FieldOf(refused.status()), "items[4].next_payload.headers[\"\"]");
}

}  // namespace
}  // namespace skiplane::rpc
