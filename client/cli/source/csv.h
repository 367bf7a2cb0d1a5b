// Rows of cells out of a stream, in the two forms that databases write.
//
// CSV is RFC 4180: cells may be quoted, a quote in quotes is doubled, quoted cells may hold commas
// and line breaks, lines end with LF or CRLF. A cell that is empty and not quoted has no value, as
// PostgreSQL writes NULL; "" is an empty text.
//
// TSV is what `mysql --batch` and PostgreSQL's COPY write: cells end at a tab, rows at a line end,
// and \t, \n, \r, \0, \b and \\ stand for these characters. \N has no value.
#pragma once

#include <cstddef>
#include <istream>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace skiplane::cli {

struct Row {
  // Where it begins, from 1.
  size_t line = 0;
  std::vector<std::optional<std::string>> cells{};
};

class RowReader {
 public:
  enum class Form { kCsv, kTsv };

  // A cell that is `null` and not quoted has no value, too; empty names none.
  RowReader(std::istream& in, Form form, std::string null)
      : in_(in), form_(form), null_(std::move(null)) {}

  // The next row; nothing at the end. A usage error names the line of what is malformed.
  absl::StatusOr<std::optional<Row>> Next();

 private:
  absl::Status ReadQuoted(std::string& cell);
  absl::Status ReadCsvRow(Row& row);
  absl::Status ReadTsvRow(Row& row);
  void AddPlain(std::string cell, Row& row) const;
  absl::Status Wrong(const std::string& what) const;
  int Get();

  std::istream& in_;
  const Form form_;
  const std::string null_;
  size_t line_ = 1;
  size_t row_bytes_ = 0;
  bool is_begun_ = false;
};

}  // namespace skiplane::cli
