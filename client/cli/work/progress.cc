#include "client/cli/work/progress.h"

#include <cstddef>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "client/cli/text/utf8.h"

namespace skiplane::cli {
namespace {

constexpr size_t kLineBytesMax = 2048;

}  // namespace

std::optional<TaskProgress> ParseProgress(absl::string_view line) {
  line = absl::StripAsciiWhitespace(line);
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(line, absl::MaxSplits(' ', 1));
  absl::string_view number = parts.first;
  const bool is_percent = !number.empty() && number.back() == '%';
  if (is_percent) number.remove_suffix(1);
  double fraction = 0;
  if (!absl::SimpleAtod(number, &fraction)) return std::nullopt;
  if (is_percent) fraction /= 100;
  if (!(fraction >= 0 && fraction <= 1)) return std::nullopt;
  return TaskProgress{
      .fraction = fraction,
      .message = Utf8Valid(absl::StripAsciiWhitespace(parts.second))};
}

std::optional<TaskProgress> ProgressLines::Add(absl::string_view text) {
  std::optional<TaskProgress> last;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const absl::string_view piece = text.substr(0, end);
    absl::StrAppend(&begun_, piece.substr(0, kLineBytesMax - begun_.size()));
    if (end == absl::string_view::npos) break;
    if (auto progress = ParseProgress(begun_)) last = std::move(progress);
    begun_.clear();
    text.remove_prefix(end + 1);
  }
  return last;
}

}  // namespace skiplane::cli
