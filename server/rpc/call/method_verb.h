// The verb that each method needs, on which queues only its request says (permit.h).
#pragma once

#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/access/rules.h"
#include "server/access/verb.h"

namespace skiplane::rpc {

// Of "skiplane.v1.BrokerService/Lease". Unset: everybody whose credentials are right may call it.
// NOT_FOUND for a method that is not listed, which nobody may call.
absl::StatusOr<std::optional<access::Verb>> VerbOf(absl::string_view method);

// ACCESS_DENIED unless `principal` may call it for some queue. To be asked before anything of the
// request is looked at: who may not call a method learns nothing by it.
absl::Status CheckMethod(const access::Grants& grants, absl::string_view principal,
                         absl::string_view method);

}  // namespace skiplane::rpc
