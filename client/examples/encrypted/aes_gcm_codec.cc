#include "aes_gcm_codec.h"

#include <openssl/evp.h>
#include <openssl/rand.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace {

constexpr size_t kKeyBytes = 32;
constexpr size_t kNonceBytes = 12;
constexpr size_t kProofBytes = 16;
constexpr size_t kIdBytesMax = 64;
constexpr absl::string_view kMark = "aes-256-gcm;key=";

using Context = std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)>;

Context NewContext() { return {EVP_CIPHER_CTX_new(), &EVP_CIPHER_CTX_free}; }

const unsigned char* In(absl::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

unsigned char* Out(std::string& text, size_t from) {
  return reinterpret_cast<unsigned char*>(text.data()) + from;
}

int Size(absl::string_view text) { return static_cast<int>(text.size()); }

// What the proof covers beside the content. No part has a newline.
std::string Bound(const skiplane::ContentPlace& place, absl::string_view mark) {
  const bool is_result = place.kind == skiplane::ContentKind::kResult;
  return absl::StrCat(mark, "\n", is_result ? "result" : "payload", "\n", place.queue);
}

bool Encrypt(absl::string_view key, absl::string_view bound, absl::string_view content,
             std::string& out) {
  out.resize(kNonceBytes + content.size() + kProofBytes);
  const Context context = NewContext();
  int size = 0;
  return context != nullptr && RAND_bytes(Out(out, 0), kNonceBytes) == 1 &&
         EVP_EncryptInit_ex(context.get(), EVP_aes_256_gcm(), nullptr, In(key), In(out)) == 1 &&
         EVP_EncryptUpdate(context.get(), nullptr, &size, In(bound), Size(bound)) == 1 &&
         EVP_EncryptUpdate(context.get(), Out(out, kNonceBytes), &size, In(content),
                           Size(content)) == 1 &&
         EVP_EncryptFinal_ex(context.get(), Out(out, kNonceBytes + content.size()), &size) == 1 &&
         EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_GET_TAG, kProofBytes,
                             Out(out, kNonceBytes + content.size())) == 1;
}

// `bytes` is at least a nonce and a proof.
bool Decrypt(absl::string_view key, absl::string_view bound, absl::string_view bytes,
             std::string& content) {
  const absl::string_view secret =
      bytes.substr(kNonceBytes, bytes.size() - kNonceBytes - kProofBytes);
  std::string proof(bytes.substr(bytes.size() - kProofBytes));
  content.resize(secret.size());
  const Context context = NewContext();
  int size = 0;
  return context != nullptr &&
         EVP_DecryptInit_ex(context.get(), EVP_aes_256_gcm(), nullptr, In(key), In(bytes)) == 1 &&
         EVP_DecryptUpdate(context.get(), nullptr, &size, In(bound), Size(bound)) == 1 &&
         EVP_DecryptUpdate(context.get(), Out(content, 0), &size, In(secret), Size(secret)) == 1 &&
         EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_SET_TAG, kProofBytes, Out(proof, 0)) ==
             1 &&
         EVP_DecryptFinal_ex(context.get(), Out(content, secret.size()), &size) == 1;
}

bool IsId(absl::string_view id) {
  const auto is_good = [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '_' || c == '-';
  };
  return !id.empty() && id.size() <= kIdBytesMax && std::all_of(id.begin(), id.end(), is_good);
}

bool IsKey(absl::string_view hex) {
  return hex.size() == 2 * kKeyBytes &&
         std::all_of(hex.begin(), hex.end(),
                     [](unsigned char c) { return absl::ascii_isxdigit(c); });
}

}  // namespace

absl::StatusOr<std::shared_ptr<const AesGcmCodec>> AesGcmCodec::FromFile(const std::string& path) {
  struct stat facts{};
  if (stat(path.c_str(), &facts) != 0) {
    return absl::InvalidArgumentError(absl::StrCat("cannot read ", path));
  }
  if ((facts.st_mode & S_IRWXO) != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("every account may use ", path, ": chmod o= it"));
  }
  std::ifstream file(path);
  std::string first;
  Keys keys;
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(absl::StripAsciiWhitespace(line), absl::MaxSplits(' ', 1));
    if (!IsId(parts.first) || !IsKey(parts.second)) {
      return absl::InvalidArgumentError(absl::StrCat(path, " line ", number, " is no key"));
    }
    if (first.empty()) first = std::string(parts.first);
    if (!keys.emplace(parts.first, absl::HexStringToBytes(parts.second)).second) {
      return absl::InvalidArgumentError(absl::StrCat(path, " line ", number, " repeats an id"));
    }
  }
  if (keys.empty()) return absl::InvalidArgumentError(absl::StrCat("no key in ", path));
  return std::shared_ptr<const AesGcmCodec>(new AesGcmCodec(std::move(first), std::move(keys)));
}

absl::StatusOr<skiplane::EncodedContent> AesGcmCodec::Encode(const skiplane::ContentPlace& place,
                                                             absl::string_view content) const {
  skiplane::EncodedContent encoded{.mark = absl::StrCat(kMark, first_)};
  if (!Encrypt(keys_.at(first_), Bound(place, encoded.mark), content, encoded.bytes)) {
    return absl::InternalError("OpenSSL cannot encrypt");
  }
  return encoded;
}

absl::StatusOr<std::string> AesGcmCodec::Decode(const skiplane::ContentPlace& place,
                                                absl::string_view mark,
                                                absl::string_view bytes) const {
  if (mark.empty()) return absl::PermissionDeniedError("nobody encrypted the content");
  absl::string_view id = mark;
  const auto key = absl::ConsumePrefix(&id, kMark) ? keys_.find(id) : keys_.end();
  if (key == keys_.end()) {
    return absl::FailedPreconditionError(absl::StrCat("no key here for content of ", mark));
  }
  std::string content;
  if (bytes.size() < kNonceBytes + kProofBytes ||
      !Decrypt(key->second, Bound(place, mark), bytes, content)) {
    return absl::DataLossError(absl::StrCat("content of ", mark, " was changed or is not from ",
                                            "this place"));
  }
  return content;
}
