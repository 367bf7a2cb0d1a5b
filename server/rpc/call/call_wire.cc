#include "server/rpc/call/call_wire.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/util/json_util.h>
#include <grpcpp/impl/codegen/proto_utils.h>
#include <grpcpp/support/proto_buffer_reader.h>

#include "absl/strings/str_cat.h"
#include "server/base/reason.h"
#include "server/broker/api/request_hash.h"
#include "server/model/limits.h"
#include "server/rpc/call/check.h"

namespace skiplane::rpc {
namespace {

// The same for equal messages, also where they hold maps.
std::string StableBytes(const google::protobuf::Message& message) {
  std::string bytes;
  google::protobuf::io::StringOutputStream stream(&bytes);
  google::protobuf::io::CodedOutputStream coded(&stream);
  coded.SetSerializationDeterministic(true);
  message.SerializeToCodedStream(&coded);
  coded.Trim();
  return bytes;
}

}  // namespace

absl::Status ParseMessage(const grpc::ByteBuffer& bytes, google::protobuf::MessageLite* message) {
  if (!bytes.Valid()) {
    return base::Refuse(absl::StatusCode::kUnimplemented, "NOT_SUPPORTED",
                        "the call came without a message: a unary call has exactly one");
  }
  grpc::ByteBuffer shared(bytes);  // reading empties it; the bytes themselves are not copied
  const grpc::Status parsed =
      grpc::GenericDeserialize<grpc::ProtoBufferReader, google::protobuf::MessageLite>(&shared,
                                                                                       message);
  if (parsed.ok()) return absl::OkStatus();
  return base::Refuse(absl::StatusCode::kInvalidArgument, "INVALID_FIELD",
                      absl::StrCat("the request is no valid ", message->GetTypeName(),
                                   ": a string that is not UTF-8, or bytes of something else"));
}

std::string MessageToJson(const google::protobuf::Message& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  std::string json;
  const auto status = google::protobuf::util::MessageToJsonString(message, &json, options);
  return status.ok() ? json : "{}";
}

absl::StatusOr<model::Origin> OriginOf(const UnaryCall& call, const char* method,
                                       const google::protobuf::Message& request,
                                       const std::string& request_id) {
  RETURN_IF_ERROR(CheckText(request_id, model::kRequestIdBytesMax, {"request_id"}));
  model::Origin origin{call.Actor(), method, MessageToJson(request), call.ClaimedActor(),
                       call.CallerName()};
  if (!request_id.empty()) {
    origin.request =
        broker::HashChange(call.principal().name, request_id, method, StableBytes(request));
  }
  return origin;
}

}  // namespace skiplane::rpc
