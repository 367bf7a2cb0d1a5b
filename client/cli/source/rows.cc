#include <utility>

#include "absl/strings/str_cat.h"
#include "client/cli/base/exit_code.h"
#include "client/cli/source/sources.h"

namespace skiplane::cli {
namespace {

class Rows : public RecordSource {
 public:
  Rows(RowReader reader, std::vector<std::string> columns, Renames renames)
      : reader_(std::move(reader)), columns_(std::move(columns)), renames_(std::move(renames)) {}

  absl::StatusOr<std::optional<Record>> Next() override {
    if (fields_.empty()) {
      if (const absl::Status status = Begin(); !status.ok()) return status;
      if (fields_.empty()) return std::nullopt;
    }
    while (true) {
      absl::StatusOr<std::optional<Row>> row = reader_.Next();
      if (!row.ok()) return row.status();
      if (!row->has_value()) return std::nullopt;
      const bool is_blank = (*row)->cells.size() == 1 && !(*row)->cells[0];
      if (is_blank && fields_.size() > 1) continue;
      return ToRecord(**row);
    }
  }

 private:
  // Learns what the columns mean.
  absl::Status Begin() {
    if (columns_.empty()) {
      const absl::StatusOr<std::optional<Row>> head = reader_.Next();
      if (!head.ok()) return head.status();
      if (!head->has_value()) return absl::OkStatus();
      for (const std::optional<std::string>& cell : (*head)->cells) {
        columns_.push_back(cell.value_or(""));
      }
    }
    for (const std::string& column : columns_) {
      absl::StatusOr<std::string> field = FieldOf(column, renames_);
      if (!field.ok()) return field.status();
      fields_.push_back(*std::move(field));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<std::optional<Record>> ToRecord(Row& row) const {
    Record record{.place = absl::StrCat("line ", row.line)};
    if (row.cells.size() != fields_.size()) {
      return UsageError(absl::StrCat(record.place, ": ", row.cells.size(), " cells instead of ",
                                     fields_.size()));
    }
    for (size_t i = 0; i < fields_.size(); ++i) {
      if (fields_[i] == "-" || !row.cells[i]) continue;
      record.fields.emplace_back(fields_[i], *std::move(row.cells[i]));
    }
    return record;
  }

  RowReader reader_;
  std::vector<std::string> columns_;
  const Renames renames_;
  std::vector<std::string> fields_;
};

}  // namespace

std::unique_ptr<RecordSource> FromRows(RowReader reader, std::vector<std::string> columns,
                                       Renames renames) {
  return std::make_unique<Rows>(std::move(reader), std::move(columns), std::move(renames));
}

}  // namespace skiplane::cli
