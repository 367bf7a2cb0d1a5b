// A synchronous call of any method of the broker's services, with the client's rules: its deadline,
// its repeats, its actor. For what Client has no function of its own.
#pragma once

#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/src/await.h"
#include "client/src/connection.h"
#include "client/src/unary_call.h"

namespace skiplane::internal {

struct CallRules {
  // How much longer than usual it may take.
  absl::Duration extra{};
  // Whether it has the same effect twice as once, so that UNAVAILABLE may be answered by a repeat.
  bool is_repeatable = true;
};

// Calls `method` and waits.
template <typename Request, typename Response, typename Methods>
absl::StatusOr<Response> Call(const std::shared_ptr<Connection>& connection, Request request,
                              AsyncMethod<Methods, Request, Response> method,
                              CallRules rules = {}) {
  return Await<Response>([&](auto done) {
    UnaryCall<Request, Response>::Start(
        connection, {.send = Via(method),
                     .request = std::move(request),
                     .timeout = connection->options().call_timeout + rules.extra,
                     .repeatable = rules.is_repeatable,
                     .done = std::move(done)});
  });
}

}  // namespace skiplane::internal
