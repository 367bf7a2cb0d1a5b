// A task to be made, from the wire. Pure functions.
#pragma once

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "server/base/status_macros.h"
#include "server/model/limits.h"
#include "server/model/lease.h"
#include "server/model/task.h"
#include "server/rpc/call/check.h"
#include "server/rpc/call/field.h"
#include "skiplane/v1/broker.pb.h"

namespace skiplane::rpc {

// Every field is checked, but for its queue, which the caller checks, and for what only that or the
// database knows: whether the payload fits, the stage exists and the schedule can be followed.
// `at` is where the task is in its request; its own name is put before the names of the task's
// fields. Takes payload and texts.
absl::StatusOr<model::NewTask> ReadNewTask(v1::NewTask* wire, const Field& at);

// Headers of whatever carries some.
absl::StatusOr<model::Headers> ReadHeaders(google::protobuf::Map<std::string, std::string>* wire,
                                           const Field& at);

// Content by itself, with its own name for its fields. Takes all of it.
template <typename Wire>
absl::StatusOr<model::TaskContent> ReadContent(Wire* wire) {
  RETURN_IF_ERROR(CheckBytes(wire->payload(), model::kPayloadBytesMax, {"payload"}));
  RETURN_IF_ERROR(
      CheckText(wire->content_type(), model::kContentTypeBytesMax, {"content_type"}));
  model::TaskContent content;
  ASSIGN_OR_RETURN(content.headers, ReadHeaders(wire->mutable_headers(), {"headers"}));
  content.payload = std::move(*wire->mutable_payload());
  content.content_type = std::move(*wire->mutable_content_type());
  return content;
}

}  // namespace skiplane::rpc
