#include "server/rpc/call/text.h"

#include <algorithm>

namespace skiplane::rpc {
namespace {

constexpr size_t kContinuedBytesMax = 3;  // of a character of UTF-8, after its first byte

bool ContinuesCharacter(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

}  // namespace

absl::string_view CutText(absl::string_view text, size_t bytes) {
  if (text.size() <= bytes) return text;
  size_t end = bytes;
  while (end > 0 && bytes - end < kContinuedBytesMax && ContinuesCharacter(text[end])) --end;
  return text.substr(0, ContinuesCharacter(text[end]) ? bytes : end);
}

void CutInPlace(size_t bytes, std::string* text) { text->resize(CutText(*text, bytes).size()); }

void CutTextInPlace(size_t bytes, std::string* text) {
  text->resize(std::min(text->size(), text->find('\0')));
  CutInPlace(bytes, text);
}

}  // namespace skiplane::rpc
