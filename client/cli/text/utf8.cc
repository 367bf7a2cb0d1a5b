#include "client/cli/text/utf8.h"

#include <algorithm>

#include "absl/strings/str_format.h"

namespace skiplane::cli {
namespace {

bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

// The bytes of the character at the front; 0 if it is malformed.
size_t CharacterBytes(absl::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x80) return 1;
  const size_t bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < bytes) return 0;
  for (size_t i = 1; i < bytes; ++i) {
    if (!IsContinuation(text[i])) return 0;
  }
  // Too long for what it says, a surrogate, or beyond the last character.
  const auto second = static_cast<unsigned char>(text[1]);
  const bool is_wrong = (first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F) ||
                        (first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F);
  return is_wrong ? 0 : bytes;
}

// U+0080 to U+009F: commands to a terminal.
bool IsControl(absl::string_view text) {
  return text.size() > 1 && text[0] == '\xC2' && static_cast<unsigned char>(text[1]) < 0xA0;
}

// U+200E, U+200F, U+2028 to U+202E and U+2066 to U+2069: with them a text shows as another one.
bool IsLayout(absl::string_view text) {
  if (text.size() < 3 || text[0] != '\xE2') return false;
  const auto last = static_cast<unsigned char>(text[2]);
  if (text[1] == '\x81') return last >= 0xA6 && last <= 0xA9;
  return text[1] == '\x80' && (last == 0x8E || last == 0x8F || (last >= 0xA8 && last <= 0xAE));
}

}  // namespace

std::string Utf8Valid(absl::string_view text) {
  std::string valid;
  while (!text.empty()) {
    const size_t bytes = CharacterBytes(text);
    if (bytes == 0 || IsControl(text) || IsLayout(text)) {
      valid.push_back('?');
    } else {
      valid.append(text.data(), bytes);
    }
    text.remove_prefix(std::max<size_t>(bytes, 1));
  }
  return valid;
}

std::string Utf8Fault(absl::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const size_t bytes = CharacterBytes(text.substr(i));
    if (bytes == 0) {
      return absl::StrFormat("byte %d (0x%02x) is not UTF-8", i + 1,
                             static_cast<unsigned char>(text[i]));
    }
    i += bytes;
  }
  return "";
}

bool Utf8IsValid(absl::string_view text) { return Utf8Fault(text).empty(); }

size_t Utf8Length(absl::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !IsContinuation(c); }));
}

std::string Utf8Cut(absl::string_view text, size_t length) {
  if (Utf8Length(text) <= length) return std::string(text);
  if (length == 0) return "";
  size_t end = 0;
  for (size_t characters = 0; characters + 1 < length; ++characters) {
    ++end;
    while (end < text.size() && IsContinuation(text[end])) ++end;
  }
  return std::string(text.substr(0, end)) + "…";
}

}  // namespace skiplane::cli
