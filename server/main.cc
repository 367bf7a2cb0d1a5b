// skiplaned: reads its configuration, runs the broker until SIGTERM or SIGINT, and drains.

#include <malloc.h>
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

#include <csignal>
#include <cstdlib>
#include <iostream>
#include <string>
#include <variant>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "server/app/app.h"
#include "server/app/backup/dump.h"
#include "server/app/backup/restore.h"
#include "server/app/doctor/doctor.h"
#include "server/app/files/check_config.h"
#include "server/app/files/make_token.h"
#include "server/app/serve.h"
#include "server/app/signals.h"
#include "server/app/version.h"
#include "server/base/log.h"
#include "server/config/config.h"

namespace {

// Large requests come and go: what they took is given back at once instead of being kept in pieces.
constexpr int kMmapFromBytes = 256 << 10;

absl::Status TellMigrations(const skiplane::config::Config& config) {
  const auto missing = skiplane::app::ListMigrations(config);
  if (!missing.ok()) return missing.status();
  for (const std::string& migration : *missing) std::cout << "would apply " << migration << "\n";
  std::cout << missing->size() << (missing->size() == 1 ? " migration" : " migrations")
            << " missing\n" << std::flush;
  return absl::OkStatus();
}

absl::Status Migrate(const skiplane::config::Config& config) {
  if (config.is_dry_run) return TellMigrations(config);
  const absl::StatusOr<int> migrations = skiplane::app::RunMigrations(config);
  if (migrations.ok()) {
    std::cout << *migrations << (*migrations == 1 ? " migration" : " migrations") << " applied\n"
              << std::flush;
  }
  return migrations.status();
}

// As for wrong flags: another try would find the same.
constexpr int kWrongSettings = 2;

// Asks no database: it fails only for what it was given.
bool IsTool(const skiplane::config::Config& config) {
  return config.command == skiplane::config::Command::kMakeToken ||
         config.command == skiplane::config::Command::kCheckConfig;
}

// What one person waits for.
bool IsForPeople(const skiplane::config::Config& config) {
  return IsTool(config) || config.command == skiplane::config::Command::kDump ||
         config.command == skiplane::config::Command::kRestore ||
         config.command == skiplane::config::Command::kDoctor;
}

// For people, or for the log of a broker.
void TellFailure(const skiplane::config::Config& config, const absl::Status& status) {
  if (IsForPeople(config)) {
    skiplane::base::FlushLog();  // which is written to the same place, by another thread
    std::cerr << "skiplaned: " << status.message() << "\n" << std::flush;
  } else {
    skiplane::base::Log(skiplane::base::LogLevel::kError, "cannot_run",
                        {{"why", std::string(status.message())}});
    skiplane::base::FlushLog();
  }
}

absl::Status Run(const std::vector<std::string>& arguments,
                 const skiplane::config::Config& config, skiplane::app::Signals& signals) {
  const auto is_ended = [&signals] { return signals.IsEndAsked(); };
  switch (config.command) {
    case skiplane::config::Command::kMigrate: return Migrate(config);
    case skiplane::config::Command::kMakeToken: return skiplane::app::PrintNewToken(config);
    case skiplane::config::Command::kCheckConfig: return skiplane::app::CheckConfig(config);
    case skiplane::config::Command::kDump: return skiplane::app::Dump(config, is_ended);
    case skiplane::config::Command::kRestore: return skiplane::app::Restore(config, is_ended);
    case skiplane::config::Command::kDoctor: return skiplane::app::Examine(config);
    case skiplane::config::Command::kServe: break;
  }
  return skiplane::app::Serve(arguments, config, signals);
}

// Not by return: threads of gRPC may still let go of the last call while the statics of libraries
// end, and the process would end by a signal.
[[noreturn]] void End(int code) {
  std::cout.flush();
#ifdef __SANITIZE_ADDRESS__
  __lsan_do_leak_check();  // it comes only after a return otherwise
#endif
  std::quick_exit(code);
}

// What is wrong in the files that a broker would read.
absl::Status CheckBefore(const skiplane::config::Config& config) {
  return config.command == skiplane::config::Command::kServe
             ? skiplane::app::CheckFiles(config).status()
             : absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  skiplane::app::Signals signals;  // before any thread starts
  signal(SIGPIPE, SIG_IGN);
  mallopt(M_MMAP_THRESHOLD, kMmapFromBytes);
  // Debian's Abseil looks for deadlocks at each mutex that gRPC takes, under one lock for all.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);

  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const auto parsed = skiplane::config::ParseConfig(arguments, skiplane::app::kVersion);
  if (const auto* exit = std::get_if<skiplane::config::EarlyExit>(&parsed)) {
    (exit->code == 0 ? std::cout : std::cerr) << exit->text << std::flush;
    return exit->code;
  }
  const auto& config = std::get<skiplane::config::Config>(parsed);
  skiplane::base::SetLogLevel(config.log_level);
  skiplane::base::SetLogFormat(config.log_format);
  if (const absl::Status status = CheckBefore(config); !status.ok()) {
    TellFailure(config, status);
    return kWrongSettings;
  }
  const absl::Status status = Run(arguments, config, signals);
  if (!status.ok()) TellFailure(config, status);
  skiplane::base::FlushLog();
  End(status.ok() ? 0 : IsTool(config) ? kWrongSettings : 1);
}
