#include "server/access/worker_key.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "server/access/digest.h"

namespace skiplane::access {

std::string WorkerKey(absl::string_view principal, absl::string_view worker_id) {
  if (worker_id.empty()) return "";
  // The length says where the name ends.
  const Digest digest =
      Sha256(absl::StrCat("skiplane worker ", principal.size(), " ", principal, worker_id));
  return absl::WebSafeBase64Escape(
      absl::string_view(reinterpret_cast<const char*>(digest.data()), digest.size()));
}

}  // namespace skiplane::access
