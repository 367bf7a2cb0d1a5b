// The file of bearer tokens. It holds their SHA-256 only, so who reads it cannot call:
//
//   # the invoicer; two lines while its token is replaced
//   invoicer sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 billing,batch
//
// That is NAME sha256:HEX [group,group...]. Lines of one NAME have the same groups: what a
// principal may do does not depend on which of its tokens it sends. A TokenTable does not change,
// so any thread may ask it.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/access/digest.h"
#include "server/access/principal.h"

namespace skiplane::access {

class TokenTable {
 public:
  // FAILED_PRECONDITION, naming `file` and the line but no value of it, if a line is not as above,
  // a hash stands there twice, or the file is larger than is allowed or has no token.
  static absl::StatusOr<TokenTable> Parse(absl::string_view text, absl::string_view file);

  // Whose token it is; null if nobody's. The time this takes tells nothing: what is compared are
  // digests, and who does not know a token cannot choose the digest of a guess.
  std::shared_ptr<const Principal> Find(absl::string_view token) const;

  // All that have a token, once each, by name.
  std::map<std::string, std::shared_ptr<const Principal>> Principals() const;

  size_t size() const { return principals_.size(); }

 private:
  friend class TokenFile;

  absl::flat_hash_map<Digest, std::shared_ptr<const Principal>> principals_;
};

}  // namespace skiplane::access
