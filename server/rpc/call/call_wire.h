// From a request's bytes to a call of the broker; reply.h leads back.
//
// Handlers take raw bytes, because gRPC answers a message that it cannot parse (a string that is
// not UTF-8) with a bare UNIMPLEMENTED, and because a request of our own may be moved from:
// payloads are not copied.
#pragma once

#include <string>
#include <utility>

#include <google/protobuf/message.h>
#include <grpcpp/support/byte_buffer.h>

#include "absl/status/statusor.h"
#include "server/base/status_macros.h"
#include "server/model/report.h"
#include "server/rpc/call/call.h"
#include "server/rpc/call/permit.h"

namespace skiplane::rpc {

// INVALID_FIELD if `bytes` are no such message, or none at all (UNIMPLEMENTED, as gRPC has it).
absl::Status ParseMessage(const grpc::ByteBuffer& bytes, google::protobuf::MessageLite* message);

// Field names as in the .proto; empty fields are left out.
std::string MessageToJson(const google::protobuf::Message& message);

// Who makes a call, or has a stream, as far as the broker wants to know. A worker is its
// principal's, whatever the request names it.
template <typename Caller, typename Call>
void NameCaller(const Caller& call, Call& wanted) {
  if constexpr (requires { wanted.principal; }) wanted.principal = call.ProvenName();
  if constexpr (requires { wanted.party; }) wanted.party = call.PartyName();
  if constexpr (requires { wanted.worker_id; }) call.OwnWorker(&wanted.worker_id);
}

// `read` checks the request and takes from it what it needs; Permit() says whether the caller may.
template <typename Call, typename Request>
absl::StatusOr<Call> ReadCall(UnaryCall& call, const grpc::ByteBuffer& bytes,
                              absl::StatusOr<Call> (*read)(Request*)) {
  RETURN_IF_ERROR(call.Admit(bytes.Length()));
  Request request;
  RETURN_IF_ERROR(ParseMessage(bytes, &request));
  ASSIGN_OR_RETURN(Call wanted, read(&request));
  RETURN_IF_ERROR(Permit(call.grants(), &wanted));
  NameCaller(call, wanted);
  return wanted;
}

// The same for requests with lease tokens, which `open` makes readable first.
template <typename Call, typename Request>
absl::StatusOr<Call> ReadCall(UnaryCall& call, const grpc::ByteBuffer& bytes,
                              absl::Status (*open)(const access::TokenSeal&, Request*),
                              absl::StatusOr<Call> (*read)(Request*)) {
  RETURN_IF_ERROR(call.Admit(bytes.Length()));
  Request request;
  RETURN_IF_ERROR(ParseMessage(bytes, &request));
  RETURN_IF_ERROR(open(call.seal(), &request));
  ASSIGN_OR_RETURN(Call wanted, read(&request));
  RETURN_IF_ERROR(Permit(call.grants(), &wanted));
  NameCaller(call, wanted);
  return wanted;
}

// Who asks for which change, and what tells a repeat of it. `request` without its request id, which
// INVALID_FIELD says is too long or holds a NUL byte.
absl::StatusOr<model::Origin> OriginOf(const UnaryCall& call, const char* method,
                                       const google::protobuf::Message& request,
                                       const std::string& request_id);

// What of a request is kept for all who may read the queue: not the content of a task.
template <typename Request>
std::string JsonToKeep(const Request& request) {
  Request kept = request;
  kept.mutable_new_content()->clear_payload();
  kept.mutable_new_content()->clear_headers();
  return MessageToJson(kept);
}

// The same for a change, all of which have a request id: notes their origin in the call.
template <typename Call, typename Request>
absl::StatusOr<Call> ReadChange(UnaryCall& call, const grpc::ByteBuffer& bytes, const char* method,
                                absl::StatusOr<Call> (*read)(Request*)) {
  RETURN_IF_ERROR(call.Admit(bytes.Length()));
  Request request;
  RETURN_IF_ERROR(ParseMessage(bytes, &request));
  const std::string request_id = std::move(*request.mutable_request_id());
  request.clear_request_id();
  ASSIGN_OR_RETURN(model::Origin origin, OriginOf(call, method, request, request_id));
  if constexpr (requires { request.new_content(); }) {
    if (request.has_new_content()) origin.request_json = JsonToKeep(request);
  }
  ASSIGN_OR_RETURN(Call change, read(&request));
  RETURN_IF_ERROR(Permit(call.grants(), &change));
  NameCaller(call, change);
  change.origin = std::move(origin);
  return change;
}

}  // namespace skiplane::rpc
