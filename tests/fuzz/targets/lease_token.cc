// Lease tokens: as they come, with a checksum that is right, as few others get behind that check,
// and sealed. The first byte says which.
#include <zlib.h>

#include <string>

#include "server/access/token_sealer.h"
#include "server/model/lease.h"
#include "tests/fuzz/target.h"

namespace skiplane::fuzz {
namespace {

// As the last part of a token.
std::string ChecksumOfToken(absl::string_view body) {
  const auto sum = crc32_z(0, reinterpret_cast<const Bytef*>(body.data()), body.size());
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(sum >> shift));
  return bytes;
}

void OpenSealed(absl::string_view bytes) {
  static const access::TokenSealer sealer;
  static const access::TokenSeal ours = sealer.For("token:ann");
  Demand(!ours.Open(bytes).has_value(), "what was not sealed is not opened");
  if (bytes.empty()) return;
  std::string sealed(bytes);
  ours.Seal(&sealed);
  Demand(ours.Open(sealed) == bytes, "what was sealed is opened");
  Demand(!sealer.For("token:ann2").Open(sealed).has_value(), "but not for another principal");
  char& changed = sealed[bytes.size() % sealed.size()];
  changed = static_cast<char>(changed ^ 1);
  Demand(!ours.Open(sealed).has_value(), "and not when it was changed");
}

void ReadLeaseToken(absl::string_view bytes) {
  const size_t choice = TakeChoice(&bytes, 3);
  if (choice == 2) return OpenSealed(bytes);
  std::string text(bytes);
  if (choice == 1) text += ChecksumOfToken(bytes);
  const auto token = model::DecodeLeaseToken(text);
  if (!token.ok()) {
    DemandRefusal(token.status());
    return;
  }
  Demand(model::EncodeLeaseToken(*token) == text, "a token has one spelling");
  Demand(token->task.lane > 0 && token->task.id > 0 && token->attempt > 0 && token->stage >= 0,
         "the numbers of a token are those of a lease");
}

const Target kLeaseToken("lease_token", &ReadLeaseToken);

}  // namespace
}  // namespace skiplane::fuzz
