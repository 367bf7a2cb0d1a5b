// What Rows holds: libpqxx's result and where each of its cells lies.
//
// libpqxx makes two reference-counted objects for every cell that is looked at, so each is looked
// at once, here. Immutable once made, hence safe to read from any thread.
#pragma once

#include <pqxx/pqxx>
#include <vector>

#include "server/pg/rows.h"

namespace skiplane::pg {

struct Rows::Cell {
  absl::string_view text;
  bool is_null = false;
};

struct Rows::State {
  explicit State(pqxx::result answer);

  pqxx::result result;
  size_t rows;
  size_t columns;
  std::vector<Cell> cells;
};

}  // namespace skiplane::pg
