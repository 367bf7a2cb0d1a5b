// Reads one request of HTTP/1.1 or 1.0 from bytes as they come. The only unit that knows Beast.
#pragma once

#include <cstddef>
#include <memory>

#include "absl/strings/string_view.h"
#include "server/http/message.h"

namespace skiplane::http {

class RequestParser {
 public:
  enum class Event {
    kMore,          // more bytes are needed
    kHead,          // all before the body is there, told once
    kDone,          // the whole request is there
    kMalformed,     // it is no HTTP, or two readers could take it for different requests
    kHeadTooLarge,
    kBodyTooLarge,
  };
  struct Step {
    size_t taken = 0;  // of the bytes: not to be shown again
    Event event = Event::kMore;
  };

  RequestParser(size_t head_bytes_max, size_t body_bytes_max);
  ~RequestParser();
  RequestParser(const RequestParser&) = delete;
  RequestParser& operator=(const RequestParser&) = delete;

  Step Read(absl::string_view bytes);

  // From kHead on, and with kBodyTooLarge; before that it has nothing.
  const Head& head() const { return head_; }
  bool IsDone() const;
  bool KeepsConnection() const;
  // Whether the caller waits for a word before it sends the body.
  bool ExpectsContinue() const;

  // Of the body, so far.
  size_t body_bytes() const;
  std::string TakeBody();

 private:
  struct State;
  Event Judge(size_t left);
  bool TakeHead();
  void TakeTarget(absl::string_view target);
  bool HasClearLength() const;

  const size_t head_bytes_max_;
  size_t head_bytes_ = 0;  // taken so far
  std::unique_ptr<State> state_;
  Head head_;
  bool has_head_ = false;
  bool is_chunked_ = false;
};

}  // namespace skiplane::http
