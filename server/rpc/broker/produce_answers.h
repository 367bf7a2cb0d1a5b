// Answers of a Produce that are not sent yet, as they go over the wire: as objects each would take
// seven times as much, and 10,000 producers that do not read have hundreds of thousands of them.
// Not thread-safe.
#pragma once

#include <string>

#include "server/rpc/stream/unsent.h"
#include "skiplane/v1/broker.pb.h"

namespace skiplane::rpc {

class ProduceAnswers {
 public:
  // `unsent` outlives it, and counts what is here, and nothing else.
  explicit ProduceAnswers(Unsent* unsent) : unsent_(*unsent) {}

  // `message` has nothing but one result.
  void Add(const v1::ProduceResponse& message);

  // The first of them, as a ProduceResponse of at most `bytes_max` bytes but of one at least. Empty
  // if there are none.
  std::string Take(int64_t bytes_max);

 private:
  Unsent& unsent_;
  std::string bytes_;
};

}  // namespace skiplane::rpc
