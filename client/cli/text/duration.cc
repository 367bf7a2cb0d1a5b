#include "client/cli/text/duration.h"

#include <array>
#include <cstdint>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/cli/base/exit_code.h"

namespace skiplane::cli {
namespace {

struct Unit {
  absl::string_view name;
  absl::Duration duration;
};

// "ms" before "m".
const std::array<Unit, 6>& Units() {
  static const std::array<Unit, 6> units{Unit{"ms", absl::Milliseconds(1)},
                                         Unit{"w", absl::Hours(24 * 7)},
                                         Unit{"d", absl::Hours(24)},
                                         Unit{"h", absl::Hours(1)},
                                         Unit{"m", absl::Minutes(1)},
                                         Unit{"s", absl::Seconds(1)}};
  return units;
}

// Takes a number and its unit off the front; false if there is none.
bool TakePart(absl::string_view& text, absl::Duration& sum) {
  const size_t length = text.find_first_not_of("0123456789.");
  double number = 0;
  if (length == absl::string_view::npos || !absl::SimpleAtod(text.substr(0, length), &number)) {
    return false;
  }
  text.remove_prefix(length);
  for (const Unit& unit : Units()) {
    if (!absl::StartsWith(text, unit.name)) continue;
    text.remove_prefix(unit.name.size());
    sum += unit.duration * number;
    return true;
  }
  return false;
}

}  // namespace

absl::StatusOr<absl::Duration> ParseDuration(absl::string_view text) {
  absl::Duration sum;
  absl::string_view rest = text;
  if (rest == "0") return sum;
  bool is_right = !rest.empty();
  while (is_right && !rest.empty()) is_right = TakePart(rest, sum);
  if (is_right && sum < absl::InfiniteDuration()) return sum;
  return UsageError(absl::StrCat("'", text, "' is not a duration such as 90s, 5m, 2h30m or 7d"));
}

std::string DurationText(absl::Duration duration) {
  if (duration < absl::ZeroDuration()) return absl::StrCat("-", DurationText(-duration));
  if (duration == absl::ZeroDuration()) return "0s";
  if (duration < absl::Seconds(1)) {
    return absl::StrFormat("%.3gms", absl::ToDoubleMilliseconds(duration));
  }
  if (duration < absl::Minutes(1)) {
    return absl::StrFormat("%.3gs", absl::ToDoubleSeconds(duration));
  }
  std::string text;
  int parts = 0;
  for (const absl::string_view name : {"d", "h", "m", "s"}) {
    const absl::Duration unit = name == "d"   ? absl::Hours(24)
                                : name == "h" ? absl::Hours(1)
                                : name == "m" ? absl::Minutes(1)
                                              : absl::Seconds(1);
    const int64_t count = absl::IDivDuration(duration, unit, &duration);
    if (count == 0 && parts == 0) continue;
    if (count > 0) absl::StrAppend(&text, count, name);
    if (++parts == 2) break;
  }
  return text;
}

}  // namespace skiplane::cli
