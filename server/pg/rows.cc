#include "server/pg/rows.h"

#include <charconv>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "server/base/log.h"
#include "server/pg/rows_state.h"

namespace skiplane::pg {
namespace {

// For each character the value of the hex digit; 0xff for all others.
constexpr std::array<uint8_t, 256> kHexDigits = [] {
  std::array<uint8_t, 256> table{};
  table.fill(0xff);
  for (uint8_t i = 0; i < 10; ++i) table['0' + i] = i;
  for (uint8_t i = 0; i < 6; ++i) {
    table['a' + i] = static_cast<uint8_t>(10 + i);
    table['A' + i] = static_cast<uint8_t>(10 + i);
  }
  return table;
}();

[[noreturn]] void Defect(absl::string_view expected, int row, int column) {
  base::Log(base::LogLevel::kError, "wrong_column_type",
            {{"expected", std::string(expected)},
             {"row", absl::StrCat(row)},
             {"column", absl::StrCat(column)}});
  base::FlushLog();
  std::abort();
}

uint8_t HexDigit(char digit) { return kHexDigits[static_cast<uint8_t>(digit)]; }

// Writes hex.size() / 2 bytes; false if `hex` is not an even number of hex digits.
bool Unhex(absl::string_view hex, char* out) {
  if (hex.size() % 2 != 0) return false;
  uint8_t seen = 0;
  for (size_t i = 0; i < hex.size(); i += 2) {
    const uint8_t high = HexDigit(hex[i]);
    const uint8_t low = HexDigit(hex[i + 1]);
    seen |= static_cast<uint8_t>(high | low);
    *out++ = static_cast<char>((high << 4) | low);
  }
  return seen != 0xff;
}

template <typename Number>
bool Parse(absl::string_view text, Number& value) {
  const char* end = text.data() + text.size();
  const std::from_chars_result result = std::from_chars(text.data(), end, value);
  return result.ec == std::errc() && result.ptr == end;
}

}  // namespace

Rows::State::State(pqxx::result answer)
    : result(std::move(answer)), rows(result.size()), columns(result.columns()) {
  cells.reserve(rows * columns);
  const auto end = result.end();
  for (auto row = result.begin(); row != end; ++row) {
    const auto end_of_row = row->end();
    // By the iterator and not by a field of its own, which would hold the answer once more.
    for (auto field = row->begin(); field != end_of_row; ++field) {
      cells.push_back({{field->c_str(), field->size()}, field->is_null()});
    }
  }
}

Rows::Rows() = default;
Rows::Rows(const Rows&) = default;
Rows::Rows(Rows&&) noexcept = default;
Rows& Rows::operator=(const Rows&) = default;
Rows& Rows::operator=(Rows&&) noexcept = default;
Rows::~Rows() = default;

Rows::Rows(std::shared_ptr<const State> state) : state_(std::move(state)) {}

int Rows::size() const { return state_ == nullptr ? 0 : static_cast<int>(state_->rows); }

const Rows::Cell& Rows::At(int row, int column) const {
  const size_t r = static_cast<size_t>(row);
  const size_t c = static_cast<size_t>(column);
  if (state_ == nullptr || r >= state_->rows || c >= state_->columns) {
    Defect("a cell", row, column);
  }
  return state_->cells[r * state_->columns + c];
}

bool Rows::IsNull(int row, int column) const { return At(row, column).is_null; }

absl::string_view Rows::Text(int row, int column) const { return At(row, column).text; }

int64_t Rows::Int(int row, int column) const {
  int64_t value = 0;
  if (!Parse(Text(row, column), value)) Defect("an integer", row, column);
  return value;
}

double Rows::Float(int row, int column) const {
  double value = 0;
  if (!Parse(Text(row, column), value)) Defect("a number", row, column);
  return value;
}

bool Rows::Bool(int row, int column) const {
  const absl::string_view text = Text(row, column);
  if (text != "t" && text != "f") Defect("a boolean", row, column);
  return text == "t";
}

std::string Rows::Bytea(int row, int column) const {
  if (IsNull(row, column)) return {};
  absl::string_view text = Text(row, column);
  if (text.substr(0, 2) != "\\x") Defect("a bytea", row, column);
  text.remove_prefix(2);
  std::string bytes(text.size() / 2, '\0');
  if (!Unhex(text, bytes.data())) Defect("a bytea", row, column);
  return bytes;
}

Uuid Rows::UuidValue(int row, int column) const {
  constexpr size_t kTextBytes = 36;
  const absl::string_view text = Text(row, column);
  char digits[32];
  size_t count = 0;
  for (const char c : text) {
    if (c != '-' && count < sizeof(digits)) digits[count++] = c;
  }
  char bytes[16];
  if (text.size() != kTextBytes || count != sizeof(digits) || !Unhex({digits, count}, bytes)) {
    Defect("a uuid", row, column);
  }
  Uuid value;
  std::copy_n(bytes, value.size(), value.begin());
  return value;
}

Tid Rows::TidValue(int row, int column) const {
  const absl::string_view text = Text(row, column);
  const size_t comma = text.find(',');
  Tid value;
  if (comma == text.npos || text.front() != '(' || text.back() != ')' ||
      !Parse(text.substr(1, comma - 1), value.block) ||
      !Parse(text.substr(comma + 1, text.size() - comma - 2), value.offset)) {
    Defect("a tid", row, column);
  }
  return value;
}

absl::Time Rows::Micros(int row, int column) const {
  return absl::FromUnixMicros(Int(row, column));
}

}  // namespace skiplane::pg
