// A synchronous call of any method of the broker's services, with the client's rules: its deadline,
// its repeats, its actor. For what Client has no function of its own, and for all that operators
// call: every one of these may be repeated, a change because it gets a request id here.
#pragma once

#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "client/src/await.h"
#include "client/src/connection.h"
#include "client/src/random_id.h"
#include "client/src/unary_call.h"

namespace skiplane::internal {

template <typename Request>
concept HasRequestId = requires(Request& request) { request.mutable_request_id(); };

// Calls `method` and waits. `wait`: how long the broker itself may wait before it answers.
template <typename Request, typename Response, typename Methods>
absl::StatusOr<Response> Call(const std::shared_ptr<Connection>& connection, Request request,
                              AsyncMethod<Methods, Request, Response> method,
                              absl::Duration wait = absl::ZeroDuration()) {
  if constexpr (HasRequestId<Request>) {
    if (request.request_id().empty()) request.set_request_id(RandomId());
  }
  return Await<Response>([&](auto done) {
    UnaryCall<Request, Response>::Start(
        connection, {.send = Via(method),
                     .request = std::move(request),
                     .timeout = wait + connection->options().call_timeout,
                     .repeatable = true,
                     .done = std::move(done)});
  });
}

}  // namespace skiplane::internal
