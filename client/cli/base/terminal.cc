#include "client/cli/base/terminal.h"

#include <pwd.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <iostream>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace skiplane::cli {

bool IsTerminal(int descriptor) { return isatty(descriptor) == 1; }

bool WantsColor() {
  const char* const no_color = getenv("NO_COLOR");
  const char* const kind = getenv("TERM");
  const bool is_refused = no_color != nullptr && no_color[0] != '\0';
  return IsTerminal(STDOUT_FILENO) && !is_refused && kind != nullptr &&
         absl::string_view(kind) != "dumb";
}

int TerminalWidth() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

bool Ask(const std::string& question) {
  std::cerr << question << " [y/N] " << std::flush;
  std::string answer;
  std::getline(std::cin, answer);
  const std::string word = absl::AsciiStrToLower(absl::StripAsciiWhitespace(answer));
  return word == "y" || word == "yes";
}

std::string DefaultActor() {
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) != 0) host[0] = '?';
  const passwd* const user = getpwuid(geteuid());
  std::string actor =
      user != nullptr ? std::string(user->pw_name) : absl::StrCat("uid ", geteuid());
  return absl::StrCat(actor, "@", host.data());
}

}  // namespace skiplane::cli
