// What is allowed in the files of TLS, credentials and rules, and is seldom meant.
#pragma once

#include <string>
#include <vector>

#include "server/config/config.h"

namespace skiplane::app {

// Of a configuration that was found to be right: certificates that have expired or are no
// authority, files that every account may change or a key that it may read, tokens and groups that
// no rule names, a pattern where rules take names literally. Sentences that name the file.
std::vector<std::string> WarningsOf(const config::Config& config);

}  // namespace skiplane::app
