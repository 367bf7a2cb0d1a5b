// One message that a stream is about to send.
#pragma once

#include <memory>
#include <string>

#include <google/protobuf/message_lite.h>

#include "absl/functional/any_invocable.h"

namespace skiplane::rpc {

struct Outgoing {
  // This or `bytes`; neither: there is nothing to say.
  std::unique_ptr<google::protobuf::MessageLite> message;
  // Told whether the transport took it; may be null.
  absl::AnyInvocable<void(bool is_sent)> done;
  std::string bytes{};  // a message

  bool IsEmpty() const { return message == nullptr && bytes.empty(); }
};

}  // namespace skiplane::rpc
