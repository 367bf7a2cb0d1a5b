#include "client/cli/text/color.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"

namespace skiplane::cli {
namespace {

constexpr absl::string_view kRed = "\x1b[31m";
constexpr absl::string_view kGreen = "\x1b[32m";
constexpr absl::string_view kYellow = "\x1b[33m";

constexpr std::array<std::pair<absl::string_view, absl::string_view>, 7> kStates{{
    {"failed", kRed},
    {"lost", kRed},
    {"succeeded", kGreen},
    {"done", kGreen},
    {"retried", kYellow},
    {"hanged", kYellow},
    {"cancelled", kYellow},
}};

}  // namespace

absl::string_view ColorOf(absl::string_view title, absl::string_view cell) {
  const std::string name = absl::AsciiStrToLower(title);
  if (name == "state" || name == "outcome") {
    const auto* const found = std::find_if(kStates.begin(), kStates.end(),
                                           [&](const auto& state) { return state.first == cell; });
    return found == kStates.end() ? absl::string_view() : found->second;
  }
  if (name == "paused" || name == "pause_mode") {
    return cell.empty() || cell == "no" ? absl::string_view() : kYellow;
  }
  const bool is_failures = name == "failed" || absl::EndsWith(name, "failed_count");
  return is_failures && cell != "0" && !cell.empty() ? kRed : absl::string_view();
}

}  // namespace skiplane::cli
