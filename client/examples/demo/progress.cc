#include "client/examples/demo/progress.h"

#include <unistd.h>

#include <iostream>

#include "absl/time/clock.h"

namespace skiplane::demo {
namespace {

constexpr char kEraseLine[] = "\r\033[K";

}  // namespace

Progress::Progress() : is_terminal_(isatty(STDERR_FILENO) == 1), next_(absl::Now()) {}

void Progress::Show(absl::string_view line) {
  if (absl::Now() < next_) return;
  next_ = absl::Now() + (is_terminal_ ? absl::Milliseconds(200) : absl::Seconds(2));
  std::cerr << (is_terminal_ ? kEraseLine : "") << line << (is_terminal_ ? "" : "\n") << std::flush;
  is_open_ = is_terminal_;
}

void Progress::Say(absl::string_view line) {
  std::cerr << (is_open_ ? kEraseLine : "") << line << std::endl;
  is_open_ = false;
}

}  // namespace skiplane::demo
