// The flags of credentials and rules: who calls, and what they may do.
#pragma once

#include "CLI/CLI.hpp"
#include "server/config/config.h"

namespace skiplane::config {

// Makes `app` fill `access`, which must outlive it.
void DeclareAccess(CLI::App* app, Access* access);

}  // namespace skiplane::config
