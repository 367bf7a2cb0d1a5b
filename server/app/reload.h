// What SIGHUP does: the command line, the environment and the file of --config are read again, and
// what may change while the broker runs is taken from them, which is the log level and the files of
// TLS, credentials and rules, under the names that they have now. All of it or nothing; the log
// says which.
#pragma once

#include <string>
#include <vector>

#include "server/app/app.h"
#include "server/app/files/file_watch.h"
#include "server/config/config.h"

namespace skiplane::app {

// `arguments` as at the start; `config` is what they gave then. `watch` follows the names of files.
void Reload(const std::vector<std::string>& arguments, const config::Config& config, App& app,
            FileWatch& watch);

}  // namespace skiplane::app
