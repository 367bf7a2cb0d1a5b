#include "server/store/texts.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"

namespace skiplane::store {

std::optional<absl::string_view> IfAny(absl::string_view text) {
  if (text.empty()) return std::nullopt;
  return text;
}

std::vector<int64_t> NumbersOf(absl::string_view array) {
  std::vector<int64_t> numbers;
  array = array.substr(1, array.size() - 2);
  for (absl::string_view part : absl::StrSplit(array, ',', absl::SkipEmpty())) {
    int64_t number = 0;
    if (absl::SimpleAtoi(part, &number)) numbers.push_back(number);
  }
  return numbers;
}

}  // namespace skiplane::store
