// Rows in aligned columns, for people. Columns of numbers are aligned to the right, the last one is
// cut to the width of the terminal, and what a terminal would take for a command is not printed.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace skiplane::cli {

class Table {
 public:
  // Without titles there is no head line.
  explicit Table(std::vector<std::string> titles) : titles_(std::move(titles)) {}

  void Add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

  bool empty() const { return rows_.empty(); }

  // No line is longer than `width`; 0 cuts nothing. With colours those of color.h.
  std::string Render(size_t width, bool is_colored = false) const;

 private:
  std::vector<std::string> titles_;
  std::vector<std::vector<std::string>> rows_;
};

// On one line: line breaks and tabs become spaces, other control characters and what is not UTF-8
// become '?'.
std::string OneLine(absl::string_view text);

// With the thousands set apart: 12,345.
std::string FormatCount(int64_t count);

}  // namespace skiplane::cli
