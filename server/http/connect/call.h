// What a call of a service is, once its head was found good.
#pragma once

#include <google/protobuf/descriptor.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <grpcpp/client_context.h>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "server/http/connect/codec.h"
#include "server/http/handler.h"
#include "server/rpc/call/inner_channel.h"

namespace skiplane::http::connect {

struct Call {
  const google::protobuf::MethodDescriptor* method = nullptr;
  Form form = Form::kJson;
  std::optional<absl::Duration> timeout{};
  Request request;
  std::shared_ptr<Exchange> exchange{};
  Fields answer_fields{};  // for each answer, whatever it is
  std::function<void()> body_refused = [] {};

  // "/skiplane.v1.BrokerService/Lease".
  std::string Path() const;
  // Its deadline and its metadata.
  void Prepare(grpc::ClientContext* context) const;
  void Answer(Response response) const;
  // Its body is no such message.
  void RefuseBody(Response response) const;
};

// The refusal of a call that was cut off because the services are ending, which says nothing of its
// own; OK of any other.
absl::Status CutOffBy(const grpc::Status& status);

// Calls, and answers when that has: BROKER_DRAINING at once if the channel is closed. Cancelled if
// the caller leaves.
void CallUnary(rpc::InnerChannel& channel, Call call);

// The same for a method that answers with a stream of messages.
void CallStream(rpc::InnerChannel& channel, Call call);

}  // namespace skiplane::http::connect
