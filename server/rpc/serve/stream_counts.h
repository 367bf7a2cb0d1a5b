// How many streams gRPC holds for each connection to its servers: by channelz, which counts them
// anyway. A stream counts until nothing of it is left in memory, also when its caller has long
// reset it. Not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"

namespace skiplane::rpc {

class StreamCounts {
 public:
  struct Counts {
    int64_t begun = 0;
    int64_t answered = 0;  // to their end
    int64_t failed = 0;    // ended otherwise
    int64_t held() const { return begun - answered - failed; }
  };

  // Learns which connections came since it did so last.
  void Refresh();

  // Of the connection of the caller at `address`, as gRPC spells it. Nothing if gRPC does not know
  // it (any more, or yet). Takes some microseconds.
  std::optional<Counts> Of(absl::string_view address) const;

  // Forgets the others. Those that are not known as open yet are learned again.
  void Sweep(absl::FunctionRef<bool(absl::string_view address)> is_open);

 private:
  absl::flat_hash_map<std::string, int64_t> ids_;  // of channelz, by address
  int64_t next_ = 1;                               // the first id that was not seen yet
};

}  // namespace skiplane::rpc
