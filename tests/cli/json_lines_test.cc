#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "client/cli/base/exit_code.h"
#include "client/cli/source/sources.h"

namespace skiplane::cli {
namespace {

using testing::HasSubstr;
using Fields = std::vector<std::pair<std::string, std::string>>;

absl::StatusOr<Fields> First(const std::string& text, const Renames& renames = {}) {
  std::istringstream in(text);
  const auto source = FromJsonLines(in, renames);
  auto record = source->Next();
  if (!record.ok()) return record.status();
  return record->has_value() ? (*record)->fields : Fields{};
}

TEST(JsonLinesTest, MembersAreFields) {
  EXPECT_EQ(*First(R"({"payload": "hi", "priority": -3, "delay": "5m", "key": null})"),
            (Fields{{"payload", "hi"}, {"priority", "-3"}, {"delay", "5m"}}));
}

TEST(JsonLinesTest, APayloadMayBeAnyValue) {
  EXPECT_EQ(*First(R"({"payload": {"b": 1, "a": [true, null]}})"),
            (Fields{{"payload", R"({"b":1,"a":[true,null]})"}}));
}

TEST(JsonLinesTest, HeadersAreAnObject) {
  EXPECT_EQ(*First(R"({"headers": {"a.b": "x", "n": 7}})"),
            (Fields{{"headers.a.b", "x"}, {"headers.n", "7"}}));
}

TEST(JsonLinesTest, MembersCanBeRenamedAndLeftOut) {
  EXPECT_EQ(*First(R"({"id": 17, "body": "x", "junk": {}})",
                   {{"id", "key"}, {"body", "payload"}, {"junk", "-"}}),
            (Fields{{"key", "17"}, {"payload", "x"}}));
}

TEST(JsonLinesTest, ABadLineIsNamed) {
  const auto refusal = [](const std::string& text) {
    const absl::Status status = First(text).status();
    EXPECT_EQ(ExitCodeOf(status), kUsage);
    return std::string(status.message());
  };
  EXPECT_EQ(refusal("\n\n{\"payload\": "), "line 3: not a JSON object");
  EXPECT_EQ(refusal("[1]"), "line 1: not a JSON object");
  EXPECT_THAT(refusal(R"({"colour": "red"})"), HasSubstr("line 1: tasks have no 'colour'"));
  EXPECT_THAT(refusal(R"({"": "red"})"), HasSubstr("line 1: tasks have no ''"));
  EXPECT_EQ(refusal(R"({"key": {"a": 1}})"), "line 1: key: not a text or a number");
}

}  // namespace
}  // namespace skiplane::cli
