// Fields of HTTP and metadata of calls, which is what each becomes of the other. Pure functions.
#pragma once

#include <grpcpp/client_context.h>

#include <optional>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/http/message.h"

namespace skiplane::http::connect {

// How long the caller waits, by Connect-Timeout-Ms; nothing if it does not say.
// INVALID_ARGUMENT if that is no positive number of at most ten digits, or stands twice.
absl::StatusOr<std::optional<absl::Duration>> TimeoutOf(const Head& head);

// Who calls, and of the fields those that are meant for the services: skiplane-… and authorization.
void WriteMetadata(const Head& head, const Caller& caller, grpc::ClientContext* context);

// What a service said beside its answer; after the answer, with `prefix` before the names.
using Metadata = std::multimap<grpc::string_ref, grpc::string_ref>;
void ReadMetadata(const Metadata& metadata, absl::string_view prefix, Fields* fields);

}  // namespace skiplane::http::connect
