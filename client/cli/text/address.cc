#include "client/cli/text/address.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace skiplane::cli {
namespace {

constexpr absl::string_view kUsualPort = "7070";

std::string WithPort(absl::string_view address) {
  if (absl::StrContains(address, "/") || absl::StartsWith(address, "unix:")) {
    return std::string(address);
  }
  const auto colons = std::count(address.begin(), address.end(), ':');
  if (absl::StartsWith(address, "[")) {
    return absl::EndsWith(address, "]") ? absl::StrCat(address, ":", kUsualPort)
                                        : std::string(address);
  }
  if (colons == 0) return absl::StrCat(address, ":", kUsualPort);
  return colons == 1 ? std::string(address) : absl::StrCat("[", address, "]:", kUsualPort);
}

}  // namespace

std::vector<std::string> ParseAddresses(absl::string_view text) {
  std::vector<std::string> addresses;
  for (const absl::string_view address : absl::StrSplit(text, ',', absl::SkipWhitespace())) {
    addresses.push_back(WithPort(absl::StripAsciiWhitespace(address)));
  }
  return addresses;
}

}  // namespace skiplane::cli
