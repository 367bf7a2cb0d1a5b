// The verb that each method needs, on which queues only its request says (permit.h).
#pragma once

#include <optional>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/access/verb.h"

namespace skiplane::rpc {

// Of "skiplane.v1.BrokerService/Lease". Unset: everybody whose credentials are right may call it.
// NOT_FOUND for a method that is not listed, which nobody may call.
absl::StatusOr<std::optional<access::Verb>> VerbOf(absl::string_view method);

}  // namespace skiplane::rpc
