#include "client/cli/live/screen.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "client/cli/base/terminal.h"

namespace skiplane::cli {
namespace {

// The other page, which is not scrolled back to; no cursor.
constexpr absl::string_view kBegin = "\x1b[?1049h\x1b[?25l";
constexpr absl::string_view kEnd = "\x1b[?25h\x1b[?1049l";
constexpr absl::string_view kHome = "\x1b[H";
constexpr absl::string_view kClearLine = "\x1b[K";
constexpr absl::string_view kClearBelow = "\x1b[J";

// What terminals send, in both of their modes.
constexpr std::array<std::pair<absl::string_view, Key>, 14> kKeys{{
    {"\x1b[A", Key::kUp},       {"\x1bOA", Key::kUp},       {"\x1b[B", Key::kDown},
    {"\x1bOB", Key::kDown},     {"\x1b[5~", Key::kPageUp},  {"\x1b[6~", Key::kPageDown},
    {"\x1b[H", Key::kHome},     {"\x1bOH", Key::kHome},     {"\x1b[1~", Key::kHome},
    {"\x1b[F", Key::kEnd},      {"\x1bOF", Key::kEnd},      {"\x1b[4~", Key::kEnd},
    {" ", Key::kPageDown},      {"\x7f", Key::kPageUp},
}};

// Whether there is something to give back, and what.
std::atomic<bool> is_open = false;
termios before{};

void Write(absl::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text.remove_prefix(static_cast<size_t>(written));
  }
}

// How long an unknown sequence is: up to its first letter or '~'.
size_t SequenceLength(absl::string_view input) {
  size_t end = 2;
  while (end < input.size() && (input[end] < '@' || input[end] > '~')) ++end;
  return std::min(end + 1, input.size());
}

}  // namespace

Stroke NextStroke(std::string& input) {
  for (const auto& [sequence, key] : kKeys) {
    if (!absl::StartsWith(input, sequence)) continue;
    input.erase(0, sequence.size());
    return {.key = key};
  }
  const char first = input.front();
  const bool is_sequence = first == '\x1b' && input.size() > 1;
  input.erase(0, is_sequence ? SequenceLength(input) : 1);
  if (first <= ' ' || first > '~') return {};
  return {.key = Key::kLetter, .letter = first};
}

bool Screen::IsPossible() { return IsTerminal(STDIN_FILENO) && IsTerminal(STDOUT_FILENO); }

Screen::Screen() {
  tcgetattr(STDIN_FILENO, &before);
  termios now = before;
  now.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  // To stop or to dump core would leave the terminal as it is now.
  now.c_cc[VSUSP] = _POSIX_VDISABLE;
  now.c_cc[VQUIT] = _POSIX_VDISABLE;
  tcsetattr(STDIN_FILENO, TCSANOW, &now);
  is_open = true;
  Write(kBegin);
}

Screen::~Screen() { Restore(); }

void Screen::Restore() {
  if (!is_open.exchange(false)) return;
  Write(kEnd);
  tcsetattr(STDIN_FILENO, TCSANOW, &before);
}

ScreenSize Screen::Size() {
  winsize size{};
  const bool is_known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;
  if (!is_known || size.ws_col == 0 || size.ws_row == 0) return {.width = 80, .height = 24};
  return {.width = size.ws_col, .height = size.ws_row};
}

void Screen::Draw(const std::vector<std::string>& lines) {
  Write(absl::StrCat(kHome, absl::StrJoin(lines, absl::StrCat(kClearLine, "\r\n")), kClearLine,
                     kClearBelow));
}

std::vector<Stroke> Screen::Strokes() {
  std::string input;
  pollfd waited{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  while (poll(&waited, 1, 0) > 0) {
    std::array<char, 256> bytes{};
    const ssize_t size = read(STDIN_FILENO, bytes.data(), bytes.size());
    if (size <= 0) return {{.key = Key::kLetter, .letter = 'q'}};
    input.append(bytes.data(), static_cast<size_t>(size));
  }
  std::vector<Stroke> strokes;
  while (!input.empty()) strokes.push_back(NextStroke(input));
  return strokes;
}

}  // namespace skiplane::cli
