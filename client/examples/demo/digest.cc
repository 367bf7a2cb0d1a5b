#include "client/examples/demo/digest.h"

#include <openssl/evp.h>

#include <array>
#include <fstream>
#include <memory>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/string_view.h"

namespace skiplane::demo {
namespace {

using Context = std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)>;

// Counts the words that begin in `text`; `in_word` carries over from the text before.
int64_t CountWords(absl::string_view text, bool& in_word) {
  int64_t words = 0;
  for (const char c : text) {
    const bool is_space = absl::ascii_isspace(static_cast<unsigned char>(c));
    if (!is_space && !in_word) ++words;
    in_word = !is_space;
  }
  return words;
}

std::string Finish(EVP_MD_CTX* context) {
  std::string raw(EVP_MAX_MD_SIZE, '\0');
  unsigned int size = 0;
  EVP_DigestFinal_ex(context, reinterpret_cast<unsigned char*>(raw.data()), &size);
  raw.resize(size);
  return absl::BytesToHexString(raw);
}

}  // namespace

Digest DigestFile(const std::string& path) {
  Digest digest;
  std::ifstream file(path, std::ios::binary);
  const Context context(EVP_MD_CTX_new(), &EVP_MD_CTX_free);
  if (!file || EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) != 1) return digest;
  std::array<char, 1 << 16> buffer;
  bool in_word = false;
  while (file.read(buffer.data(), buffer.size()) || file.gcount() > 0) {
    const auto size = static_cast<size_t>(file.gcount());
    EVP_DigestUpdate(context.get(), buffer.data(), size);
    digest.words += CountWords({buffer.data(), size}, in_word);
    digest.bytes += file.gcount();
  }
  if (file.bad()) return {};
  digest.sha256 = Finish(context.get());
  return digest;
}

}  // namespace skiplane::demo
