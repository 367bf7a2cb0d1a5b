#include "client/cli/text/table.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "client/cli/text/color.h"
#include "client/cli/text/utf8.h"

namespace skiplane::cli {
namespace {

constexpr absl::string_view kGap = "  ";
constexpr absl::string_view kEllipsis = "…";  // what Utf8Cut puts behind a cut

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

// Where a cell is in its line, in bytes.
struct Span {
  size_t begin = 0;
  size_t end = 0;
};

// `spans` becomes those of the cells that are there as a whole.
std::string Line(const std::vector<std::string>& cells, const std::vector<Column>& columns,
                 size_t width, std::vector<Span>* spans = nullptr) {
  std::string line;
  for (size_t i = 0; i < cells.size(); ++i) {
    const std::string blanks(columns[i].width - std::min(columns[i].width, Utf8Length(cells[i])),
                             ' ');
    if (i > 0) absl::StrAppend(&line, kGap);
    if (columns[i].is_right) line += blanks;
    if (spans != nullptr) spans->push_back({line.size(), line.size() + cells[i].size()});
    line += cells[i];
    if (!columns[i].is_right) line += blanks;
  }
  absl::StripTrailingAsciiWhitespace(&line);
  if (width == 0 || Utf8Length(line) <= width) return line;
  line = Utf8Cut(line, width);
  const size_t kept = line.size() - kEllipsis.size();
  while (spans != nullptr && !spans->empty() && spans->back().end > kept) spans->pop_back();
  return line;
}

// From the last cell to the first, so that the places of those before it stay.
std::string Colored(std::string line, const std::vector<std::string>& titles,
                    const std::vector<std::string>& cells, const std::vector<Span>& spans) {
  for (size_t i = spans.size(); i-- > 0;) {
    // Without titles the first cell of a row says what the others are.
    const std::string& title = i < titles.size() ? titles[i] : cells.front();
    const absl::string_view color = i == 0 && titles.empty() ? "" : ColorOf(title, cells[i]);
    if (color.empty()) continue;
    line.insert(spans[i].end, kPlain);
    line.insert(spans[i].begin, color.data(), color.size());
  }
  return line;
}

}  // namespace

std::string Table::Render(size_t width, bool is_colored) const {
  std::vector<std::vector<std::string>> rows;
  for (const std::vector<std::string>& row : rows_) {
    std::vector<std::string>& clean = rows.emplace_back();
    for (const std::string& cell : row) clean.push_back(OneLine(cell));
  }
  const std::vector<Column> columns = Measure(titles_, rows);
  std::string text;
  if (!titles_.empty()) absl::StrAppend(&text, Line(titles_, columns, width), "\n");
  for (const std::vector<std::string>& row : rows) {
    std::vector<Span> spans;
    const std::string line = Line(row, columns, width, &spans);
    absl::StrAppend(&text, is_colored ? Colored(line, titles_, row, spans) : line, "\n");
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
