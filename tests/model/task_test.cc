#include "server/model/task.h"

#include <limits>

#include "gtest/gtest.h"
#include "server/base/reason.h"

namespace skiplane::model {
namespace {

TEST(TaskIdTest, TheTextIsLaneDashNumber) { EXPECT_EQ(FormatTaskId({7, 42}), "7-42"); }

TEST(TaskIdTest, EveryIdSurvivesItsText) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  for (const TaskId id : {TaskId{1, 1}, TaskId{0, 0}, TaskId{10, 100}, TaskId{kMax, kMax}}) {
    const absl::StatusOr<TaskId> parsed = ParseTaskId(FormatTaskId(id));
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    EXPECT_EQ(*parsed, id);
  }
}

TEST(TaskIdTest, AnyOtherTextIsRefused) {
  for (const char* text :
       {"", "-", "1", "1-", "-1", "a-b", "1-2-3", "+1-2", "1-+2", "-1-2", "1--2", " 1-2", "1-2 ",
        "1 -2", "1- 2", "01-2", "1-02", "00-1", "1-0x2", "1.0-2", "9223372036854775808-1",
        "1-9223372036854775808", "1-99999999999999999999999", "1-2\n"}) {
    const absl::StatusOr<TaskId> parsed = ParseTaskId(text);
    ASSERT_FALSE(parsed.ok()) << text;
    EXPECT_EQ(base::ReasonOf(parsed.status()), "INVALID_FIELD") << text;
    EXPECT_EQ(base::FieldOf(parsed.status()), "task_id") << text;
  }
}

TEST(TaskIdTest, AZeroByteDoesNotEndTheText) {
  EXPECT_FALSE(ParseTaskId(absl::string_view("1-2\0", 4)).ok());
}

}  // namespace
}  // namespace skiplane::model
