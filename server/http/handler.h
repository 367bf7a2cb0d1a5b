// What answers the requests of a server.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "server/http/message.h"

namespace skiplane::http {

// One request that waits for its answer: either Answer(), or Begin(), any number of Send(), End().
// From any thread. What is sent to a caller that is gone is dropped. A server waits, when it stops,
// until nobody holds one: who is told that its caller left lets go soon.
class Exchange {
 public:
  virtual ~Exchange() = default;

  // To be asked before the request's body, which came packed, takes so many bytes in all. They
  // count as held until nobody holds the exchange. False: there is no room for them.
  virtual bool HoldUnpacked(size_t bytes) = 0;

  // An answer of about so many bytes is there and is being put into its form. They count as held
  // until Answer() or Send() comes with it.
  virtual void Reserve(size_t bytes) = 0;

  virtual void Answer(Response response) = 0;

  // `head` without a body.
  virtual void Begin(Response head) = 0;
  // `sent` is called when there is room for more, and never if the caller is gone.
  virtual void Send(std::string bytes, std::function<void()> sent) = 0;
  virtual void End() = 0;

  // `left` is called at most once: when the caller is gone before the answer has ended. At once if
  // it is gone already.
  virtual void OnLeft(std::function<void()> left) = 0;
};

// Called on the threads that read and write, which must not be held up, or on a worker: requests
// that take longer are handled there. Thread-safe.
class Handler {
 public:
  virtual ~Handler() = default;

  // Asked before the body is read; an answer refuses the request.
  virtual std::optional<Response> Refuse(const Head& head, const Caller& caller) = 0;

  virtual void Handle(Request request, std::shared_ptr<Exchange> exchange) = 0;

  // The answer to what is no request that can be read, or none that there is room for. `head`: as
  // far as it was read.
  virtual Response Failure(int status, absl::string_view message, const Head& head) = 0;
};

}  // namespace skiplane::http
