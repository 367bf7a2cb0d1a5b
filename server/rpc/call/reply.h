// From the broker's answer to the reply of a call. A call passes one of these functions to the
// broker as its callback: it replies with what `write` makes of the answer, which it may move from,
// or refuses the call as the broker did.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "server/broker/api/calls.h"
#include "server/rpc/call/call.h"

namespace skiplane::rpc {

// Replies at once.
template <typename Response, typename Answer, typename Write>
void Deliver(UnaryCall* call, absl::StatusOr<Answer> answer, Write write) {
  if (!answer.ok()) {
    call->Refuse(answer.status());
    return;
  }
  Response response;
  write(&*answer, &response);
  call->Reply(response);
}

template <typename Answer, typename Response>
broker::Callback<Answer> ReplyWith(UnaryCall* call, void (*write)(Answer*, Response*)) {
  return [call, write](absl::StatusOr<Answer> answer) {
    Deliver<Response>(call, std::move(answer), write);
  };
}

// Of an answer that holds a list, whose memory is counted until the reply was sent. `page_of` says
// where: a member, or std::identity() of an answer that is nothing but a list.
template <typename Answer, typename PageOf, typename Response>
broker::Callback<Answer> ReplyWithList(UnaryCall* call, PageOf page_of,
                                       void (*write)(Answer*, Response*)) {
  return [call, page_of, write](absl::StatusOr<Answer> answer) {
    if (answer.ok()) call->Keep(std::invoke(page_of, *answer).memory);
    Deliver<Response>(call, std::move(answer), write);
  };
}

// The same, where the token of the next page is good for `scope` only (list_token.h).
template <typename Answer, typename PageOf, typename Response>
broker::Callback<Answer> ReplyWithList(UnaryCall* call, PageOf page_of, std::string scope,
                                       void (*write)(Answer*, const std::string& scope,
                                                     Response*)) {
  return [call, page_of, scope = std::move(scope), write](absl::StatusOr<Answer> answer) {
    if (answer.ok()) call->Keep(std::invoke(page_of, *answer).memory);
    Deliver<Response>(call, std::move(answer), [&](Answer* from, Response* to) {
      write(from, scope, to);
    });
  };
}

}  // namespace skiplane::rpc
