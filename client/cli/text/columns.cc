#include "client/cli/text/columns.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "client/cli/base/exit_code.h"
#include "client/cli/text/field.h"

namespace skiplane::cli {
namespace {

// What OLDEST READY is called in options.
std::string OptionName(absl::string_view title) {
  return absl::StrReplaceAll(absl::AsciiStrToLower(absl::StripAsciiWhitespace(title)),
                             {{" ", "-"}, {"_", "-"}});
}

absl::StatusOr<std::pair<std::string, std::string>> Find(const Columns& columns,
                                                         absl::string_view name) {
  std::vector<std::string> names;
  for (const auto& column : columns) {
    if (OptionName(column.first) == OptionName(name)) return column;
    names.push_back(OptionName(column.first));
  }
  return UsageError(absl::StrCat("there is no column '", OneLine(name), "'. There are: ",
                                 absl::StrJoin(names, ", ")));
}

}  // namespace

absl::StatusOr<Order> ParseOrder(const Columns& columns, absl::string_view text) {
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(text, absl::MaxSplits(':', 1));
  const auto column = Find(columns, parts.first);
  if (!column.ok()) return column.status();
  const bool is_descending = parts.second == "desc";
  const bool has_direction = parts.first.size() < text.size();
  if (has_direction && !is_descending && parts.second != "asc") {
    return UsageError(absl::StrCat("'", OneLine(parts.second),
                                   "' is no direction: write COLUMN, COLUMN:asc or COLUMN:desc"));
  }
  return Order{.path = column->second, .is_descending = is_descending};
}

absl::StatusOr<Columns> ChooseColumns(const Columns& columns, absl::string_view text) {
  Columns chosen;
  for (const absl::string_view name : absl::StrSplit(text, ',')) {
    auto column = Find(columns, name);
    if (!column.ok()) return column.status();
    chosen.push_back(*std::move(column));
  }
  return chosen;
}

void FieldTable::Add(const google::protobuf::Message& message) {
  Row row;
  for (const auto& [title, path] : columns_) row.cells.push_back(FieldText(message, path));
  if (order_) row.rank = FieldRank(message, order_->path);
  rows_.push_back(std::move(row));
}

Table FieldTable::Sorted() const {
  std::vector<Row> rows = rows_;
  if (order_) {
    std::stable_sort(rows.begin(), rows.end(), [&](const Row& one, const Row& other) {
      return order_->is_descending ? one.rank > other.rank : one.rank < other.rank;
    });
  }
  std::vector<std::string> titles;
  for (const auto& [title, path] : columns_) titles.push_back(title);
  Table table(std::move(titles));
  for (Row& row : rows) table.Add(std::move(row.cells));
  return table;
}

}  // namespace skiplane::cli
