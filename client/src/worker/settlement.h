// What became of one attempt, ready to be sent on a stream, and sent again on another one.
#pragma once

#include <cstddef>
#include <memory>

#include "absl/status/status.h"
#include "client/src/worker/holdings.h"
#include "skiplane/options.h"
#include "skiplane/settle.h"
#include "skiplane/v1/broker.pb.h"
#include "skiplane/worker.h"

namespace skiplane::internal {

struct Settlement {
  HoldPtr hold;
  Result result;
  size_t bytes;
  std::unique_ptr<v1::WorkSettlement> message;  // null while it is part of what is being sent
};

using SettlementPtr = std::shared_ptr<Settlement>;

// Writes the message. An error is the codec's, or says what no message can.
absl::Status Encode(const ClientOptions& options, Settlement& settlement);

// How the attempt ended, as the broker says.
AttemptEnd EndOf(Result::Kind kind, const SettleResult& result);

}  // namespace skiplane::internal
