#include "server/app/ready_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include "absl/strings/str_cat.h"

namespace skiplane::app {
namespace {

// The address as configured, with the port that was taken.
std::string WithPort(const std::string& address, int port) {
  return absl::StrCat(address.substr(0, address.rfind(':')), ":", port);
}

std::string Unfinished(const config::Config& config) { return config.ready_file + ".new"; }

}  // namespace

absl::Status CheckReadyFile(const config::Config& config) {
  if (config.ready_file.empty()) return absl::OkStatus();
  std::error_code error;
  if (std::filesystem::is_directory(config.ready_file, error)) {
    return absl::FailedPreconditionError(
        absl::StrCat("--ready-file: ", config.ready_file, " is a folder"));
  }
  const std::string unfinished = Unfinished(config);
  if (!std::ofstream(unfinished, std::ios::trunc)) {
    return absl::FailedPreconditionError(absl::StrCat("--ready-file: cannot write ", unfinished,
                                                      ": ", std::strerror(errno)));
  }
  unlink(unfinished.c_str());
  return absl::OkStatus();
}

absl::Status WriteReadyFile(const config::Config& config, const App& app) {
  if (config.ready_file.empty()) return absl::OkStatus();
  const std::string unfinished = Unfinished(config);
  {
    std::ofstream file(unfinished, std::ios::trunc);
    file << "listen=" << WithPort(config.listen, app.port()) << "\n";
    if (app.http_port() != 0) {
      file << "http=" << WithPort(config.http_listen, app.http_port()) << "\n";
    }
    if (!config.metrics_listen.empty()) {
      file << "metrics=" << WithPort(config.metrics_listen, app.metrics_port()) << "\n";
    }
    if (const std::string uri = app.embedded_uri(); !uri.empty()) {
      file << "database=" << uri << "\n";
    }
    file << "pid=" << getpid() << "\n";
    file.close();
    if (!file) return absl::InternalError(absl::StrCat("cannot write ", unfinished));
  }
  if (std::rename(unfinished.c_str(), config.ready_file.c_str()) != 0) {
    return absl::InternalError(absl::StrCat("cannot write ", config.ready_file));
  }
  return absl::OkStatus();
}

}  // namespace skiplane::app
