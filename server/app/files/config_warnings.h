// What is allowed in the files of TLS, credentials and rules, and is seldom meant.
#pragma once

#include <string>
#include <vector>

#include "server/access/authenticator.h"
#include "server/config/config.h"

namespace skiplane::app {

// Whether the database's password stands on the command line.
bool ShowsPassword(const config::Config& config);

// Of a configuration that was found to be right, and of what its files say: certificates that have
// expired or are no authority, files that every account may change, a key or a password that it may
// read, and what rule_warnings.h says. Sentences that name the file.
std::vector<std::string> WarningsOf(const config::Config& config, const access::Sources& sources);

}  // namespace skiplane::app
