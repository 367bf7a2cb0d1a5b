#include "client/cli/text/field.h"

#include <gtest/gtest.h>

#include "client/cli/base/exit_code.h"
#include "skiplane/v1/broker.pb.h"
#include "skiplane/v1/bulk.pb.h"
#include "skiplane/v1/queue.pb.h"
#include "skiplane/v1/task.pb.h"

namespace skiplane::cli {
namespace {

TEST(FieldTest, EachKindIsSetByItsText) {
  v1::QueueSettings settings;
  EXPECT_TRUE(SetField(settings, "retry.kind", "exponential").ok());
  EXPECT_TRUE(SetField(settings, "retry.max_attempts", "5").ok());
  EXPECT_TRUE(SetField(settings, "retry.jitter", "0.1").ok());
  EXPECT_TRUE(SetField(settings, "retry.delays", "1s, 5m,2h").ok());
  EXPECT_TRUE(SetField(settings, "keep_results", "yes").ok());
  EXPECT_EQ(settings.retry().kind(), v1::RETRY_KIND_EXPONENTIAL);
  EXPECT_EQ(settings.retry().max_attempts(), 5);
  EXPECT_EQ(settings.retry().delays_size(), 3);
  EXPECT_EQ(settings.retry().delays(1).seconds(), 300);
  EXPECT_TRUE(settings.keep_results());
}

TEST(FieldTest, HeadersAreSetByTheirName) {
  v1::NewTask task;
  EXPECT_TRUE(SetField(task, "headers.trace.parent", "00-1").ok());
  EXPECT_EQ(task.headers().at("trace.parent"), "00-1");
}

TEST(FieldTest, AWrongTextOrNameIsAUsageError) {
  v1::NewTask task;
  EXPECT_EQ(ExitCodeOf(SetField(task, "priority", "high")), kUsage);
  EXPECT_EQ(ExitCodeOf(SetField(task, "priority", "99999999999")), kUsage);
  EXPECT_EQ(ExitCodeOf(SetField(task, "delay", "soon")), kUsage);
  EXPECT_EQ(ExitCodeOf(SetField(task, "colour", "red")), kUsage);
  const absl::Status status = SetField(task, "key_policy", "keep-all");
  EXPECT_EQ(status.message(),
            "'keep-all' is none of keep, keep-unfinished, rerun-if-newer, replace-waiting, reject, "
            "schedule");
}

TEST(FieldTest, UnsetFieldsHaveNoText) {
  v1::Task task;
  EXPECT_EQ(FieldText(task, "state"), "");
  EXPECT_EQ(FieldText(task, "lease_time"), "");
  EXPECT_EQ(FieldText(task, "last_error.type"), "");
  EXPECT_EQ(FieldText(task, "attempt_count"), "0");
  task.set_state(v1::TASK_STATE_READY);
  task.mutable_last_error()->set_type("TimeoutError");
  EXPECT_EQ(FieldText(task, "state"), "ready");
  EXPECT_EQ(FieldText(task, "last_error.type"), "TimeoutError");
}

TEST(FieldTest, FactsHoldNestedFieldsAndNoLists) {
  v1::Queue queue;
  queue.set_name("mail");
  queue.mutable_settings()->mutable_lease_duration()->set_seconds(90);
  queue.mutable_settings()->add_stages()->set_name("first");
  const std::string facts = Facts(queue).Render(0);
  EXPECT_NE(facts.find("settings.lease_duration"), std::string::npos);
  EXPECT_NE(facts.find("1m30s"), std::string::npos);
  EXPECT_EQ(facts.find("first"), std::string::npos);
}

TEST(FieldTest, AnEmptyMessageIsAFactWhenItIsSet) {
  v1::BulkOperation operation;
  operation.mutable_action()->mutable_retry();
  EXPECT_EQ(FieldText(operation, "action.retry"), "yes");
  EXPECT_EQ(FieldText(operation, "action.cancel"), "");
  const std::string facts = Facts(operation).Render(0);
  EXPECT_NE(facts.find("action.retry"), std::string::npos);
  EXPECT_EQ(facts.find("action.cancel"), std::string::npos);
}

TEST(FieldTest, JsonHasTheNamesOfTheApiAndZeros) {
  v1::QueueCounts counts;
  counts.set_ready_count(7);
  const std::string json = ToJson(counts);
  EXPECT_NE(json.find(R"("ready_count":"7")"), std::string::npos);
  EXPECT_NE(json.find(R"("failed_count":"0")"), std::string::npos);
}

}  // namespace
}  // namespace skiplane::cli
