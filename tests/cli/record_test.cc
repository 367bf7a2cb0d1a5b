#include "client/cli/source/record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "client/cli/base/exit_code.h"
#include "client/cli/source/sources.h"

namespace skiplane::cli {
namespace {

using testing::HasSubstr;

std::string Refusal(const Record& record) {
  const absl::Status status = ToTask(record, {}).status();
  EXPECT_EQ(ExitCodeOf(status), kUsage);
  return std::string(status.message());
}

std::unique_ptr<RecordSource> Csv(std::istream& in, const Renames& renames = {},
                                  std::vector<std::string> columns = {}) {
  return FromRows(RowReader(in, RowReader::Form::kCsv, ""), std::move(columns), renames);
}

TEST(RecordTest, ItsFieldsWinOverTheDefaults) {
  v1::NewTask defaults;
  defaults.set_priority(5);
  defaults.mutable_delay()->set_seconds(60);
  (*defaults.mutable_headers())["kept"] = "yes";
  const auto task = ToTask({.place = "line 2",
                            .fields = {{"payload", "x"},
                                       {"priority", "-1"},
                                       {"schedule_time", "2026-11-21T10:00:00Z"},
                                       {"headers.own", "1"}}},
                           defaults);
  ASSERT_TRUE(task.ok()) << task.status();
  EXPECT_EQ(task->priority(), -1);
  EXPECT_FALSE(task->has_delay());
  EXPECT_EQ(task->schedule_time().seconds(), 1795255200);
  EXPECT_EQ(task->headers_size(), 2);
}

TEST(RecordTest, PayloadsMayBeBase64WithLineBreaks) {
  const auto task = ToTask({.fields = {{"payload_base64", "AP/+\nAA=="}}}, {});
  ASSERT_TRUE(task.ok()) << task.status();
  EXPECT_EQ(task->payload(), std::string("\x00\xff\xfe\x00", 4));
}

TEST(RecordTest, WhatIsWrongIsNamedWithItsPlace) {
  EXPECT_EQ(Refusal({.place = "line 7", .fields = {{"priority", "x"}}}),
            "line 7: priority: 'x' is not a whole number");
  EXPECT_EQ(Refusal({.place = "line 7", .fields = {{"delay", "5s"}, {"schedule_time", "now"}}}),
            "line 7: both delay and schedule_time");
  EXPECT_EQ(Refusal({.place = "line 7", .fields = {{"key", "\xff"}}}), 
            "line 7: key: byte 1 (0xff) is not UTF-8");
  EXPECT_EQ(Refusal({.place = "line 7", .fields = {{"payload_base64", "%%"}}}),
            "line 7: payload_base64: not base64");
}

TEST(RecordTest, TextThatIsNotUtf8IsNamedWithItsByte) {
  EXPECT_TRUE(CheckText({.fields = {{"payload", "Gr\xc3\xbc\xc3\x9f" "e € 😀"}}}).ok());
  EXPECT_TRUE(CheckText({.fields = {{"payload_base64", "\xff"}}}).ok()) << "not this one's matter";
  const absl::Status latin =
      CheckText({.place = "line 3", .fields = {{"key", "k"}, {"payload", "Gr\xfc\xdf" "e"}}});
  EXPECT_EQ(ExitCodeOf(latin), kUsage);
  EXPECT_THAT(std::string(latin.message()),
              HasSubstr("line 3: payload: byte 3 (0xfc) is not UTF-8"));
  EXPECT_FALSE(CheckText({.fields = {{"payload", "cut\xe2\x82"}}}).ok());
  std::istringstream lines("{\"payload\": \"a\"}\n{\"payload\": \"\xfc\"}\n");
  const auto source = FromJsonLines(lines, {});
  EXPECT_TRUE(source->Next().ok());
  EXPECT_EQ(source->Next().status().message(),
            "line 2: byte 14 (0xfc) is not UTF-8, which JSON must be");
}

TEST(RecordTest, TheFirstRowNamesTheColumns) {
  std::istringstream in("id,body,ignored\n1,hello,x\n\n2,,y\n");
  const auto source = Csv(in, {{"id", "key"}, {"body", "payload"}, {"ignored", "-"}});
  const auto first = source->Next();
  ASSERT_TRUE(first.ok() && first->has_value());
  EXPECT_EQ((*first)->place, "line 2");
  EXPECT_EQ((*first)->fields, (decltype(Record::fields){{"key", "1"}, {"payload", "hello"}}));
  EXPECT_EQ((*source->Next())->fields, (decltype(Record::fields){{"key", "2"}}));
  EXPECT_FALSE(source->Next()->has_value());
}

TEST(RecordTest, ColumnsMayBeGivenInstead) {
  std::istringstream in("1,hello\n");
  const auto record = Csv(in, {}, {"key", "payload"})->Next();
  EXPECT_EQ((*record)->fields, (decltype(Record::fields){{"key", "1"}, {"payload", "hello"}}));
}

TEST(RecordTest, RowsAndColumnsMustFit) {
  std::istringstream short_row("key,payload\na\n");
  EXPECT_EQ(Csv(short_row)->Next().status().message(), "line 2: 1 cells instead of 2");
  std::istringstream unknown("key,colour\n");
  EXPECT_THAT(std::string(Csv(unknown)->Next().status().message()),
              HasSubstr("tasks have no 'colour'"));
}

}  // namespace
}  // namespace skiplane::cli
