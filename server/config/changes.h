// Which settings differ between two configurations: those that a reload does not take.
#pragma once

#include <string>
#include <vector>

#include "server/config/config.h"

namespace skiplane::config {

// The flags, without dashes, of what differs beside the log level and the files of TLS, credentials
// and rules. Empty only if nothing else does.
std::vector<std::string> OtherChanges(const Config& running, Config read);

}  // namespace skiplane::config
