// What is right in the files of tokens and rules, and does nothing.
#pragma once

#include <string>
#include <vector>

#include "server/access/authenticator.h"
#include "server/config/config.h"

namespace skiplane::app {

// Rules for names that nobody can have with these credentials, groups without a member or without a
// rule, tokens to which no rule allows anything, a pattern where rules take names literally.
// Sentences that name the file. `sources` is what the files of `access` say.
std::vector<std::string> RuleWarnings(const config::Access& access,
                                      const access::Sources& sources);

}  // namespace skiplane::app
