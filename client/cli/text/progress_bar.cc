#include "client/cli/text/progress_bar.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/cli/text/table.h"

namespace skiplane::cli {
namespace {

constexpr int kCells = 30;
constexpr char kEraseLine[] = "\r\x1b[K";

}  // namespace

std::string ProgressLine(int64_t done, int64_t total, const std::string& unit) {
  if (total <= 0) return absl::StrCat(FormatCount(done), " ", unit);
  const double share = std::clamp(static_cast<double>(done) / static_cast<double>(total), 0.0, 1.0);
  const auto full = static_cast<size_t>(share * kCells);
  return absl::StrFormat("[%s%s] %3d%%  %s of about %s %s", std::string(full, '#'),
                         std::string(kCells - full, '-'), static_cast<int>(share * 100),
                         FormatCount(done), FormatCount(total), unit);
}

void ProgressBar::Draw(int64_t done, int64_t total, const std::string& unit) {
  if (!is_terminal_) return;
  out_ << kEraseLine << ProgressLine(done, total, unit) << std::flush;
  is_drawn_ = true;
}

void ProgressBar::Clear() {
  if (is_drawn_) out_ << kEraseLine << std::flush;
  is_drawn_ = false;
}

}  // namespace skiplane::cli
