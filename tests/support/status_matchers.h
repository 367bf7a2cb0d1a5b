// gmock matchers for absl::Status and absl::StatusOr; they print the status on failure.
//
//   EXPECT_THAT(Check(limits), IsOk());
//   EXPECT_THAT(Parse("7"), IsOkAndHolds(7));
//   EXPECT_THAT(Parse("x"), StatusIs(absl::StatusCode::kInvalidArgument));
//   EXPECT_THAT(Find("q"), ReasonIs("QUEUE_NOT_FOUND"));
//   EXPECT_THAT(Check(task), FieldIs("tasks[0].priority"));
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "server/base/reason.h"
#include "server/base/status_macros.h"

namespace skiplane::testing {

inline const absl::Status& StatusOf(const absl::Status& status) { return status; }

template <typename T>
const absl::Status& StatusOf(const absl::StatusOr<T>& result) {
  return result.status();
}

MATCHER(IsOk, negation ? "is an error" : "is OK") {
  *result_listener << StatusOf(arg).ToString();
  return StatusOf(arg).ok();
}

MATCHER_P(IsOkAndHolds, value, "is OK and holds what is expected") {
  if (!arg.ok()) {
    *result_listener << arg.status().ToString();
    return false;
  }
  return ::testing::ExplainMatchResult(value, *arg, result_listener);
}

MATCHER_P(StatusIs, code, absl::StatusCodeToString(code)) {
  *result_listener << StatusOf(arg).ToString();
  return StatusOf(arg).code() == code;
}

MATCHER_P(ReasonIs, reason, std::string("has reason ") + reason) {
  *result_listener << StatusOf(arg).ToString() << ", reason " << base::ReasonOf(StatusOf(arg));
  return base::ReasonOf(StatusOf(arg)) == reason;
}

MATCHER_P(FieldIs, field, std::string("blames the field ") + field) {
  *result_listener << StatusOf(arg).ToString() << ", field " << base::FieldOf(StatusOf(arg));
  return base::FieldOf(StatusOf(arg)) == field;
}

}  // namespace skiplane::testing

// Ends the test with the status, or takes the value: ASSERT_OK_AND_ASSIGN(auto task, Find(id)).
#define ASSERT_OK_AND_ASSIGN(declaration, expression)                                 \
  SKIPLANE_ASSERT_OK_AND_ASSIGN(SKIPLANE_CONCAT(skiplane_test_result_, __LINE__), \
                                declaration, expression)
#define SKIPLANE_ASSERT_OK_AND_ASSIGN(result, declaration, expression) \
  auto result = (expression);                                          \
  ASSERT_TRUE(result.ok()) << result.status();                         \
  declaration = std::move(result).value()
