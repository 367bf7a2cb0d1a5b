// A task to be made, from the wire. Pure functions.
#pragma once

#include "absl/status/statusor.h"
#include "server/model/task.h"
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

}  // namespace skiplane::rpc
