#include "client/cli/source/csv.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "client/cli/base/exit_code.h"

namespace skiplane::cli {
namespace {

constexpr int kEnd = std::char_traits<char>::eof();
// Far more than a task may hold: what is longer is a quote that was not closed.
constexpr size_t kRowBytesMax = size_t{16} << 20;

char Unescape(int letter) {
  switch (letter) {
    case 't': return '\t';
    case 'n': return '\n';
    case 'r': return '\r';
    case 'b': return '\b';
    case '0': return '\0';
    default: return static_cast<char>(letter);
  }
}

}  // namespace

int RowReader::Get() {
  const int c = in_.get();
  if (c == '\n') ++line_;
  ++row_bytes_;
  return c;
}

absl::Status RowReader::Wrong(const std::string& what) const {
  return UsageError(absl::StrCat("line ", line_, ": ", what));
}

void RowReader::AddPlain(std::string cell, Row& row) const {
  const bool has_value = form_ == Form::kTsv ? cell != null_ || null_.empty()
                                             : !cell.empty() && cell != null_;
  row.cells.push_back(has_value ? std::optional(std::move(cell)) : std::nullopt);
}

absl::StatusOr<std::optional<Row>> RowReader::Next() {
  if (!std::exchange(is_begun_, true)) {
    // A byte order mark, as spreadsheets write it.
    if (in_.peek() == 0xEF) in_.ignore(3);
  }
  row_bytes_ = 0;
  if (in_.peek() == kEnd) return std::nullopt;
  Row row{.line = line_};
  const absl::Status status = form_ == Form::kCsv ? ReadCsvRow(row) : ReadTsvRow(row);
  if (!status.ok()) return status;
  return row;
}

// After the opening quote, up to and with the closing one.
absl::Status RowReader::ReadQuoted(std::string& cell) {
  const size_t begin = line_;
  while (true) {
    const int c = Get();
    if (c == kEnd || row_bytes_ > kRowBytesMax) {
      return UsageError(absl::StrCat("line ", begin, ": a quote is not closed"));
    }
    if (c != '"') {
      cell.push_back(static_cast<char>(c));
    } else if (in_.peek() == '"') {
      cell.push_back(static_cast<char>(Get()));
    } else {
      return absl::OkStatus();
    }
  }
}

absl::Status RowReader::ReadCsvRow(Row& row) {
  std::string cell;
  bool is_quoted = false;
  while (true) {
    const size_t line = line_;
    const int c = Get();
    const bool ends_line = c == '\n' || c == kEnd || (c == '\r' && in_.peek() == '\n');
    if (c == ',' || ends_line) {
      if (is_quoted) {
        row.cells.emplace_back(std::move(cell));
      } else {
        AddPlain(std::move(cell), row);
      }
      if (ends_line && c == '\r') Get();
      if (ends_line) return absl::OkStatus();
      cell.clear();
      is_quoted = false;
    } else if (is_quoted) {
      return UsageError(absl::StrCat("line ", line, ": text after a closing quote"));
    } else if (c == '"') {
      if (!cell.empty()) return Wrong("a quote inside a cell that is not quoted");
      is_quoted = true;
      if (const absl::Status status = ReadQuoted(cell); !status.ok()) return status;
    } else {
      cell.push_back(static_cast<char>(c));
      if (row_bytes_ > kRowBytesMax) return Wrong("the row is too long");
    }
  }
}

absl::Status RowReader::ReadTsvRow(Row& row) {
  std::string cell;
  bool is_null = false;
  while (true) {
    const int c = Get();
    const bool ends_line = c == '\n' || c == kEnd || (c == '\r' && in_.peek() == '\n');
    if (c == '\t' || ends_line) {
      if (is_null && cell.empty()) {
        row.cells.emplace_back();
      } else {
        AddPlain(std::move(cell), row);
      }
      if (ends_line && c == '\r') Get();
      if (ends_line) return absl::OkStatus();
      cell.clear();
      is_null = false;
    } else if (c == '\\') {
      const int letter = Get();
      if (letter == kEnd) return Wrong("a backslash at the end");
      if (letter == 'N' && cell.empty()) {
        is_null = true;
      } else {
        cell.push_back(Unescape(letter));
      }
    } else {
      cell.push_back(static_cast<char>(c));
      if (row_bytes_ > kRowBytesMax) return Wrong("the row is too long");
    }
  }
}

}  // namespace skiplane::cli
