#include "client/src/random_id.h"

#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>

#include "absl/strings/str_cat.h"

namespace skiplane::internal {

std::string RandomId() {
  // Straight from the system, so that processes forked from one another do not draw the same; in
  // one call, as the processor's own source takes ten times as long. It fails only where there is
  // none at all.
  std::array<uint32_t, 4> words;
  if (getentropy(words.data(), sizeof(words)) != 0) std::abort();
  const auto word = [&words](size_t i) { return absl::Hex(words[i], absl::kZeroPad8); };
  return absl::StrCat(word(0), word(1), word(2), word(3));
}

}  // namespace skiplane::internal
