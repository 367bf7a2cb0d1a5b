#include "server/rpc/call_wire.h"

#include <google/protobuf/util/json_util.h>
#include <grpcpp/impl/codegen/proto_utils.h>
#include <grpcpp/support/proto_buffer_reader.h>

#include "absl/strings/str_cat.h"
#include "server/base/reason.h"

namespace skiplane::rpc {

absl::Status ParseMessage(const grpc::ByteBuffer& bytes, google::protobuf::MessageLite* message) {
  if (!bytes.Valid()) {
    return base::Refuse(absl::StatusCode::kUnimplemented, "INVALID_FIELD",
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

}  // namespace skiplane::rpc
