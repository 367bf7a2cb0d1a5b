#include "client/src/connect/read_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <initializer_list>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace skiplane::internal {
namespace {

// A bearer token in place of a path: those that `skiplaned make-token` makes, and JSON Web Tokens.
bool HoldsToken(absl::string_view path) {
  constexpr size_t kSecretBytes = 32;
  return std::ranges::any_of(std::initializer_list<absl::string_view>{"skt_", "eyJ"},
                             [path](absl::string_view start) {
                               const size_t found = path.find(start);
                               return found != path.npos &&
                                      path.size() - found - start.size() >= kSecretBytes;
                             });
}

}  // namespace

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string content;
  std::getline(file, content, '\0');  // an iterator over a file that is a directory would throw
  if (!file.is_open() || file.bad()) {
    const std::string why = std::strerror(errno);
    const std::string shown = HoldsToken(path) ? "a bearer token (a path belongs here)" : path;
    return absl::NotFoundError(absl::StrCat("cannot read ", shown, ": ", why));
  }
  return content;
}

}  // namespace skiplane::internal
