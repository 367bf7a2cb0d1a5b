// The rows of one answer. Cheap to copy; may be moved to another thread. Rows and columns count
// from 0; a column's type is the caller's knowledge, a wrong one is a defect and ends the process.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/pg/params.h"

namespace skiplane::pg {

class Rows {
 public:
  Rows();
  Rows(const Rows&);
  Rows(Rows&&) noexcept;
  Rows& operator=(const Rows&);
  Rows& operator=(Rows&&) noexcept;
  ~Rows();

  int size() const;
  bool empty() const { return size() == 0; }

  bool IsNull(int row, int column) const;
  // Integers of any width.
  int64_t Int(int row, int column) const;
  double Float(int row, int column) const;
  bool Bool(int row, int column) const;
  // Valid while this object or a copy of it lives. Empty for null.
  absl::string_view Text(int row, int column) const;
  std::string Bytea(int row, int column) const;
  Uuid UuidValue(int row, int column) const;
  Tid TidValue(int row, int column) const;
  // From an int8 column of microseconds since 1970, which is how our statements return times.
  absl::Time Micros(int row, int column) const;

 private:
  friend class Session;
  struct Cell;
  struct State;
  explicit Rows(std::shared_ptr<const State> state);
  const Cell& At(int row, int column) const;
  std::shared_ptr<const State> state_;
};

}  // namespace skiplane::pg
