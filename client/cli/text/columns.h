// The columns of a table of messages: which there are, which of them are shown, and by which the
// rows are sorted.
#pragma once

#include <google/protobuf/message.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/cli/text/table.h"

namespace skiplane::cli {

// A title and the path of the field below it (field.h).
using Columns = std::vector<std::pair<std::string, std::string>>;

struct Order {
  std::string path{};
  bool is_descending = false;
};

// "ready" or "oldest-ready:desc", as the titles READY and OLDEST READY are written in options. A
// usage error lists the names that there are.
absl::StatusOr<Order> ParseOrder(const Columns& columns, absl::string_view text);

// "queue,ready", in this order.
absl::StatusOr<Columns> ChooseColumns(const Columns& columns, absl::string_view text);

// Rows of messages. With an order they are sorted, those that are alike as they came.
class FieldTable {
 public:
  FieldTable(Columns columns, std::optional<Order> order)
      : columns_(std::move(columns)), order_(std::move(order)) {}

  void Add(const google::protobuf::Message& message);

  Table Sorted() const;

 private:
  struct Row {
    std::pair<double, std::string> rank{};
    std::vector<std::string> cells{};
  };

  Columns columns_;
  std::optional<Order> order_;
  std::vector<Row> rows_{};
};

}  // namespace skiplane::cli
