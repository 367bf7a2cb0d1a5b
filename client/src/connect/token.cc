#include "client/src/connect/token.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "client/src/connect/read_file.h"

namespace skiplane::internal {
namespace {

constexpr std::chrono::seconds kLookEvery(1);

bool IsSendable(const std::string& token) {
  return std::all_of(token.begin(), token.end(), [](char c) { return c > ' ' && c <= '~'; });
}

absl::StatusOr<std::string> ReadToken(const std::string& path) {
  const absl::StatusOr<std::string> content = ReadFile(path);
  if (!content.ok()) return content.status();
  const absl::string_view line = absl::string_view(*content).substr(0, content->find('\n'));
  std::string token(absl::StripAsciiWhitespace(line));  // also of CRLF
  if (token.empty() || !IsSendable(token)) {
    return absl::FailedPreconditionError(
        absl::StrCat("the first line of ", path, " is no token: visible ASCII without spaces"));
  }
  return token;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Token>> Token::Open(const ClientOptions& options) {
  if (!IsSendable(options.token)) {
    return absl::InvalidArgumentError("token must be visible ASCII without spaces");
  }
  std::string token = options.token;
  if (!options.token_file.empty()) {
    absl::StatusOr<std::string> read = ReadToken(options.token_file);
    if (!read.ok()) return read.status();
    token = *std::move(read);
  }
  return std::unique_ptr<Token>(new Token(std::move(token), options.token_file));
}

std::string Token::Get(Time now) {
  if (file_.empty()) return token_;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (now - looked_ >= kLookEvery) {
    looked_ = now;
    Look();
  }
  return token_;
}

bool Token::IsOther(const std::string& refused) {
  if (file_.empty()) return false;
  const std::lock_guard<std::mutex> lock(mutex_);
  Look();
  return token_ != refused;
}

void Token::Look() {
  absl::StatusOr<std::string> read = ReadToken(file_);
  if (read.ok()) token_ = *std::move(read);
}

}  // namespace skiplane::internal
