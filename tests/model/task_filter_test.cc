#include "server/model/task_filter.h"

#include <string>

#include "gtest/gtest.h"
#include "server/base/reason.h"

namespace skiplane::model {
namespace {

TEST(BulkJsonTest, FilterAndChangeComeBackAsTheyWere) {
  TaskFilter filter;
  filter.queue = "mail";
  filter.states.ready = true;
  filter.headers = {{"tenant", "a"}};
  filter.max_age = absl::Hours(1);
  filter.priority = -5;
  filter.periodic = false;
  EXPECT_FALSE(filter.IsForNewerBrokers());
  filter.ids = {{5, 17}, {6, 18}};
  filter.error_type = "TimeoutError";
  filter.min_attempts = 3;
  filter.start = absl::FromUnixSeconds(60);
  filter.end = absl::FromUnixSeconds(120);
  filter.payload_text = "order-17";
  EXPECT_TRUE(filter.IsForNewerBrokers());
  TaskChange change;
  change.kind = TaskChange::Kind::kPostpone;
  change.postpone = absl::Minutes(1);
  TaskFilter filter_again;
  TaskChange change_again;
  ASSERT_TRUE(BulkFromJson(BulkToJson(filter, change), &filter_again, &change_again).ok());
  EXPECT_EQ(filter_again, filter);
  EXPECT_EQ(change_again, change);
}

// An exception would end each broker that came to such a row.
TEST(BulkJsonTest, WhatNoBrokerWroteIsADefectAndNoException) {
  for (const std::string json : {
           "", "{", "[]", "null", R"({"filter":{"queue":"a"}})",
           R"({"filter":[],"change":{"kind":2}})", R"({"filter":{},"change":7})",
           R"({"filter":{"queue":5},"change":{"kind":2}})",
           R"({"filter":{"headers":{"a":1}},"change":{"kind":2}})",
           R"({"filter":{"headers":"a"},"change":{"kind":2}})",
           R"({"filter":{"min_age_us":"1"},"change":{"kind":2}})",
           R"({"filter":{"min_age_us":1e300},"change":{"kind":2}})",
           R"({"filter":{"task_ids":["5"]},"change":{"kind":2}})",
           R"({"filter":{"task_ids":"5-17"},"change":{"kind":2}})",
           R"({"filter":{},"change":{"kind":"cancel"}})",
           R"({"filter":{},"change":{"kind":0}})", R"({"filter":{},"change":{"kind":12}})"}) {
    TaskFilter filter;
    TaskChange change;
    EXPECT_EQ(base::ReasonOf(BulkFromJson(json, &filter, &change)), "INTERNAL_ERROR") << json;
  }
}

}  // namespace
}  // namespace skiplane::model
