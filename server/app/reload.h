// What SIGHUP does: the command line, the environment and the file of --config are read again, and
// what may change while the broker runs is taken from them, which is the log level and the files of
// TLS, credentials and rules, under the names that they have now. All of it or nothing; the log
// says which.
#pragma once

#include <string>
#include <vector>

#include "server/app/app.h"
#include "server/app/files/access_files.h"
#include "server/app/files/file_watch.h"
#include "server/config/config.h"

namespace skiplane::app {

class Reloader {
 public:
  // `arguments` as at the start; `config` is what they gave then, and `files` what its files held.
  // `watch` follows the names of files. All outlive it.
  Reloader(const std::vector<std::string>& arguments, const config::Config& config,
           FilePrints files, App& app, FileWatch& watch);

  // Returns whether that succeeded.
  bool Reload();

 private:
  absl::Status Try();

  const std::vector<std::string>& arguments_;
  const config::Config& config_;
  FilePrints files_;       // in force
  config::Access access_;  // in force
  App& app_;
  FileWatch& watch_;
};

}  // namespace skiplane::app
