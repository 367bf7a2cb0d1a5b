#include "server/base/status_macros.h"

#include <memory>

#include "gtest/gtest.h"

namespace skiplane::base {
namespace {

absl::StatusOr<int> Twice(absl::StatusOr<int> input) {
  ASSIGN_OR_RETURN(const int value, input);
  return 2 * value;
}

absl::Status RunBoth(const absl::Status& first, bool* reached_end) {
  RETURN_IF_ERROR(first);
  *reached_end = true;
  return absl::OkStatus();
}

absl::StatusOr<int> Unwrap(absl::StatusOr<std::unique_ptr<int>> input) {
  ASSIGN_OR_RETURN(const std::unique_ptr<int> value, std::move(input));
  return *value;
}

TEST(StatusMacrosTest, AValueIsUnwrapped) { EXPECT_EQ(*Twice(21), 42); }

TEST(StatusMacrosTest, AnErrorIsHandedOn) {
  EXPECT_EQ(Twice(absl::NotFoundError("gone")).status(), absl::NotFoundError("gone"));
}

TEST(StatusMacrosTest, AValueThatCannotBeCopiedIsMoved) {
  EXPECT_EQ(*Unwrap(std::make_unique<int>(7)), 7);
}

TEST(StatusMacrosTest, ReturnIfErrorLeavesTheFunctionOnlyOnErrors) {
  bool reached_end = false;
  EXPECT_EQ(RunBoth(absl::AbortedError("x"), &reached_end), absl::AbortedError("x"));
  EXPECT_FALSE(reached_end);
  EXPECT_TRUE(RunBoth(absl::OkStatus(), &reached_end).ok());
  EXPECT_TRUE(reached_end);
}

}  // namespace
}  // namespace skiplane::base
