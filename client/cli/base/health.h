// gRPC's health service, which each broker has and which asks for no credentials.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "client/cli/base/session.h"

namespace skiplane::cli {

// OK when the service is SERVING. Anything else is a refusal that says why in a line, also that no
// broker answered: who asks wants to know one thing.
absl::Status CheckHealth(Session& session, const std::string& service);

}  // namespace skiplane::cli
