#include "client/cli/text/table.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "client/cli/text/utf8.h"

namespace skiplane::cli {
namespace {

constexpr absl::string_view kGap = "  ";

bool IsNumber(absl::string_view cell) {
  return cell.find_first_not_of("0123456789.,-%") == absl::string_view::npos;
}

// A column's width and side.
struct Column {
  size_t width = 0;
  bool is_right = true;
};

std::vector<Column> Measure(const std::vector<std::string>& titles,
                            const std::vector<std::vector<std::string>>& rows) {
  std::vector<Column> columns(titles.size());
  for (const std::vector<std::string>& row : rows) {
    columns.resize(std::max(columns.size(), row.size()));
  }
  for (size_t i = 0; i < titles.size(); ++i) columns[i].width = Utf8Length(titles[i]);
  for (const std::vector<std::string>& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      columns[i].width = std::max(columns[i].width, Utf8Length(row[i]));
      columns[i].is_right = columns[i].is_right && IsNumber(row[i]);
    }
  }
  return columns;
}

std::string Line(const std::vector<std::string>& cells, const std::vector<Column>& columns,
                 size_t width) {
  std::string line;
  for (size_t i = 0; i < cells.size(); ++i) {
    const std::string blanks(columns[i].width - std::min(columns[i].width, Utf8Length(cells[i])),
                             ' ');
    if (i > 0) absl::StrAppend(&line, kGap);
    if (columns[i].is_right) {
      absl::StrAppend(&line, blanks, cells[i]);
    } else {
      absl::StrAppend(&line, cells[i], blanks);
    }
  }
  absl::StripTrailingAsciiWhitespace(&line);
  return width > 0 ? Utf8Cut(line, width) : line;
}

}  // namespace

std::string Table::Render(size_t width) const {
  std::vector<std::vector<std::string>> rows;
  for (const std::vector<std::string>& row : rows_) {
    std::vector<std::string>& clean = rows.emplace_back();
    for (const std::string& cell : row) clean.push_back(OneLine(cell));
  }
  const std::vector<Column> columns = Measure(titles_, rows);
  std::string text;
  if (!titles_.empty()) absl::StrAppend(&text, Line(titles_, columns, width), "\n");
  for (const std::vector<std::string>& row : rows) {
    absl::StrAppend(&text, Line(row, columns, width), "\n");
  }
  return text;
}

std::string OneLine(absl::string_view text) {
  std::string line = Utf8Valid(text);
  for (char& c : line) {
    if (c == '\n' || c == '\r' || c == '\t') c = ' ';
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = '?';
  }
  return line;
}

std::string FormatCount(int64_t count) {
  const std::string digits = absl::StrCat(count);
  const size_t sign = count < 0 ? 1 : 0;
  std::string text;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > sign && (digits.size() - i) % 3 == 0) text.push_back(',');
    text.push_back(digits[i]);
  }
  return text;
}

}  // namespace skiplane::cli
