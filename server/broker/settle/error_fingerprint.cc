#include "server/broker/settle/error_fingerprint.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "server/broker/api/request_hash.h"

namespace skiplane::broker {
namespace {

constexpr size_t kBytesRead = 4096;   // what follows varies more than it tells
constexpr size_t kQuotedBytesMax = 200;  // a quote that is not closed by then was an apostrophe

bool IsWordByte(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return absl::ascii_isalnum(byte) || c == '_' || c == '-' || byte >= 0x80;
}

// A word with a digit in it: a number, an id, an address, a date.
bool Varies(absl::string_view word) {
  return std::any_of(word.begin(), word.end(),
                     [](char c) { return absl::ascii_isdigit(static_cast<unsigned char>(c)); });
}

// The length of the quoted value that begins here, with its quotes; 0 if there is none.
size_t QuotedLength(absl::string_view text) {
  if (text.front() != '"' && text.front() != '\'') return 0;
  const size_t end = text.substr(1, kQuotedBytesMax).find(text.front());
  return end == absl::string_view::npos ? 0 : end + 2;
}

std::string WithoutVariables(absl::string_view text) {
  std::string out;
  bool after_word = false;
  while (!text.empty()) {
    const size_t quoted = after_word ? 0 : QuotedLength(text);
    size_t word = 0;
    while (word < text.size() && IsWordByte(text[word])) ++word;
    after_word = word > 0;
    if (quoted > 0) {
      out.append("?");
      text.remove_prefix(quoted);
    } else if (word > 0) {
      const absl::string_view part = text.substr(0, word);
      absl::StrAppend(&out, Varies(part) ? "#" : part);
      text.remove_prefix(word);
    } else {
      const bool is_space = absl::ascii_isspace(static_cast<unsigned char>(text.front()));
      if (!is_space) out.push_back(text.front());
      if (is_space && !out.empty() && out.back() != ' ') out.push_back(' ');
      text.remove_prefix(1);
    }
  }
  return out;
}

}  // namespace

std::string ErrorFingerprint(const model::TaskError& error) {
  const absl::string_view text = absl::string_view(error.text).substr(0, kBytesRead);
  return absl::StrFormat(
      "%016x", StableHash(absl::StrCat(error.type, "\n", WithoutVariables(text))));
}

}  // namespace skiplane::broker
