#include "client/cli/source/csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "client/cli/base/exit_code.h"

namespace skiplane::cli {
namespace {

using Cells = std::vector<std::optional<std::string>>;

std::vector<Row> Read(const std::string& text, RowReader::Form form = RowReader::Form::kCsv,
                      const std::string& null = "") {
  std::istringstream in(text);
  RowReader reader(in, form, null);
  std::vector<Row> rows;
  while (true) {
    auto row = reader.Next();
    EXPECT_TRUE(row.ok()) << row.status();
    if (!row.ok() || !row->has_value()) return rows;
    rows.push_back(**row);
  }
}

std::string Refusal(const std::string& text, RowReader::Form form = RowReader::Form::kCsv) {
  std::istringstream in(text);
  RowReader reader(in, form, "");
  auto row = reader.Next();
  while (row.ok() && row->has_value()) row = reader.Next();
  EXPECT_EQ(ExitCodeOf(row.status()), kUsage);
  return std::string(row.status().message());
}

TEST(CsvTest, CellsMayBeQuoted) {
  const auto rows = Read("a,\"b,\"\"c\"\"\",d\n");
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].cells, (Cells{"a", "b,\"c\"", "d"}));
}

TEST(CsvTest, QuotedCellsMayHoldLineBreaks) {
  const auto rows = Read("a,\"b\nc\r\nd\"\r\ne,f\r\n");
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].cells, (Cells{"a", "b\nc\r\nd"}));
  EXPECT_EQ(rows[1].cells, (Cells{"e", "f"}));
  EXPECT_EQ(rows[1].line, 4u);
}

TEST(CsvTest, TheLastLineNeedsNoEnd) {
  EXPECT_EQ(Read("a,b\nc,").back().cells, (Cells{"c", std::nullopt}));
  EXPECT_EQ(Read("\"a\"").back().cells, (Cells{"a"}));
  EXPECT_TRUE(Read("").empty());
}

TEST(CsvTest, AnEmptyCellHasNoValueUnlessItIsQuoted) {
  EXPECT_EQ(Read(",\"\",x").front().cells, (Cells{std::nullopt, "", "x"}));
  EXPECT_EQ(Read("NULL,\"NULL\"", RowReader::Form::kCsv, "NULL").front().cells,
            (Cells{std::nullopt, "NULL"}));
}

TEST(CsvTest, AByteOrderMarkIsSkipped) {
  EXPECT_EQ(Read("\xEF\xBB\xBFkey,payload\n").front().cells, (Cells{"key", "payload"}));
}

TEST(CsvTest, AnyBytesAreKept) {
  const std::string bytes("\x01\xff\0z", 4);
  EXPECT_EQ(Read("\"" + bytes + "\"").front().cells, (Cells{bytes}));
}

TEST(CsvTest, MalformedRowsAreRefusedWithTheirLine) {
  EXPECT_EQ(Refusal("a\nb\n\"c\nd"), "line 3: a quote is not closed");
  EXPECT_EQ(Refusal("a\n\"b\"c\n"), "line 2: text after a closing quote");
  EXPECT_EQ(Refusal("a\nb\"c\"\n"), "line 2: a quote inside a cell that is not quoted");
}

TEST(CsvTest, TsvIsWhatMysqlWrites) {
  const auto rows = Read("1\ta\\tb\\nc\\\\d\n2\t\\N\n3\t\n4\tNULL\n", RowReader::Form::kTsv);
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[0].cells, (Cells{"1", "a\tb\nc\\d"}));
  EXPECT_EQ(rows[1].cells, (Cells{"2", std::nullopt}));
  EXPECT_EQ(rows[2].cells, (Cells{"3", ""}));
  EXPECT_EQ(rows[3].cells, (Cells{"4", "NULL"}));
  EXPECT_EQ(Read("1\tNULL\n", RowReader::Form::kTsv, "NULL")[0].cells, (Cells{"1", std::nullopt}));
  EXPECT_EQ(Refusal("a\\", RowReader::Form::kTsv), "line 1: a backslash at the end");
}

}  // namespace
}  // namespace skiplane::cli
