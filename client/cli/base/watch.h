// A view that is shown again and again until Ctrl-C: redrawn on a terminal, elsewhere printed below
// the one before.
#pragma once

#include <functional>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "client/cli/base/session.h"

namespace skiplane::cli {

// A broker that cannot be reached is told of and asked again; any other failure ends it.
absl::Status Watch(Session& session, absl::Duration interval,
                   const std::function<absl::Status(Session&)>& show);

}  // namespace skiplane::cli
