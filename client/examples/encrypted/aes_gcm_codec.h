// A skiplane::Codec that encrypts with AES-256-GCM, by OpenSSL.
//
// What it makes is 12 random bytes (the nonce), the encrypted content, and 16 bytes that prove that
// nothing was changed. The proof covers the mark, the kind of the content and its queue, too: what
// somebody moves to another queue, or makes a payload of a result, is refused. The mark is
// "aes-256-gcm;key=ID".
//
// Keys are lines "ID HEX" of a file: an id of [A-Za-z0-9._-]{1,64}, a space, and 64 hexadecimal
// digits. The first one encrypts, all of them decrypt. To make one:
//
//   echo "2026-11 $(openssl rand -hex 32)"
//
// One key is good for four thousand million contents: nonces are random, and more could repeat one.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "skiplane/codec.h"

class AesGcmCodec : public skiplane::Codec {
 public:
  // INVALID_ARGUMENT for a file that cannot be read, that every account can read, or with a line
  // that is no key; it says which line, and nothing of it.
  static absl::StatusOr<std::shared_ptr<const AesGcmCodec>> FromFile(const std::string& path);

  absl::StatusOr<skiplane::EncodedContent> Encode(const skiplane::ContentPlace& place,
                                                  absl::string_view content) const override;

  // FAILED_PRECONDITION: it has no such key. PERMISSION_DENIED: nobody encrypted the payload.
  // DATA_LOSS: the content was changed, or belongs elsewhere.
  absl::StatusOr<std::string> Decode(const skiplane::ContentPlace& place, absl::string_view mark,
                                     absl::string_view bytes) const override;

 private:
  using Keys = std::map<std::string, std::string, std::less<>>;  // 32 bytes by their id

  AesGcmCodec(std::string first, Keys keys) : first_(std::move(first)), keys_(std::move(keys)) {}

  const std::string first_;
  const Keys keys_;
};
