// skiplaned: reads its configuration, runs the broker until SIGTERM or SIGINT, and drains.

#include <malloc.h>

#include <csignal>
#include <iostream>
#include <string>
#include <variant>
#include <vector>

#include "server/app/app.h"
#include "server/app/ready_file.h"
#include "server/app/version.h"
#include "server/base/log.h"
#include "server/config/config.h"

namespace {

using skiplane::base::Log;
using skiplane::base::LogLevel;

// Large requests come and go: what they took is given back at once instead of being kept in pieces.
constexpr int kMmapFromBytes = 256 << 10;

int Fail(const absl::Status& status) {
  Log(LogLevel::kError, "cannot_run", {{"why", std::string(status.message())}});
  skiplane::base::FlushLog();
  return 1;
}

int Migrate(const skiplane::config::Config& config) {
  const absl::StatusOr<int> migrations = skiplane::app::RunMigrations(config);
  if (!migrations.ok()) return Fail(migrations.status());
  std::cout << *migrations << " migrations applied\n";
  return 0;
}

int Serve(const skiplane::config::Config& config, const sigset_t& signals) {
  absl::StatusOr<std::unique_ptr<skiplane::app::App>> app = skiplane::app::App::Start(config);
  if (!app.ok()) return Fail(app.status());
  if (absl::Status status = WriteReadyFile(config, **app); !status.ok()) return Fail(status);
  Log(LogLevel::kInfo, "serving",
      {{"version", skiplane::app::kVersion},
       {"commit", skiplane::app::kCommit},
       {"listen", config.listen},
       {"port", std::to_string((*app)->port())},
       {"metrics_listen", config.metrics_listen},
       {"metrics_port", std::to_string((*app)->metrics_port())},
       {"tls", config.tls.client_ca_file.empty() ? config.tls.enabled() ? "on" : "off" : "mutual"},
       {"database", (*app)->database()},
       {"directory", config.embedded_dir}});
  int signal = 0;
  sigwait(&signals, &signal);
  Log(LogLevel::kInfo, "draining", {{"signal", std::to_string(signal)}});
  (*app)->Drain();
  app->reset();
  Log(LogLevel::kInfo, "ended");
  skiplane::base::FlushLog();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  // Before any thread starts, so that all of them leave these signals to sigwait.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGPIPE, SIG_IGN);
  mallopt(M_MMAP_THRESHOLD, kMmapFromBytes);

  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const auto parsed = skiplane::config::ParseConfig(arguments, skiplane::app::kVersion);
  if (const auto* exit = std::get_if<skiplane::config::EarlyExit>(&parsed)) {
    (exit->code == 0 ? std::cout : std::cerr) << exit->text << std::flush;
    return exit->code;
  }
  const auto& config = std::get<skiplane::config::Config>(parsed);
  skiplane::base::SetLogLevel(config.log_level);
  skiplane::base::SetLogFormat(config.log_format);
  return config.command == skiplane::config::Command::kMigrate ? Migrate(config)
                                                               : Serve(config, signals);
}
