// Flags, one a line, the file of --config, or what reads that by itself, which is much faster: as
// the first byte says.
#include "server/config/config.h"

#include <sys/mman.h>
#include <unistd.h>

#include <sstream>
#include <string>
#include <variant>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "server/config/address.h"
#include "server/config/options.h"
#include "server/config/settings_file.h"
#include "tests/fuzz/target.h"

namespace skiplane::fuzz {
namespace {

// A password, which the seeds have.
constexpr absl::string_view kSecret = "://u:hunter2@";

// The path of a file in memory that holds `bytes`.
std::string FileOf(absl::string_view bytes) {
  static const int file = memfd_create("settings", 0);
  const auto size = static_cast<off_t>(bytes.size());
  Demand(ftruncate(file, 0) == 0 && pwrite(file, bytes.data(), bytes.size(), 0) == size,
         "a file can be written");
  return absl::StrCat("/proc/self/fd/", file);
}

// A port that other machines reach asks who calls, unless somebody said that it need not.
void DemandAccess(const config::Config& config) {
  const bool asks = !config.tls.client_ca_file.empty() || !config.access.token_file.empty() ||
                    !config.access.jwt_keys_file.empty() || config.access.is_open;
  const bool takes_calls = config.command == config::Command::kServe ||
                           config.command == config::Command::kCheckConfig;
  Demand(asks || !takes_calls ||
             (config::IsLoopback(config.listen) &&
              (config.http_listen.empty() || config::IsLoopback(config.http_listen))),
         "who reaches a port proves who calls");
}

void DemandConfig(const config::Config& config) {
  if (config.command == config::Command::kMakeToken) return;  // needs none of it
  DemandAccess(config);
  Demand(config.database_uri.empty() != config.embedded_dir.empty(), "there is one database");
  Demand(config.embedded_dir.empty() || config.embedded_dir.front() == '/',
         "a folder is not relative to another one later");
  Demand(!config.listen.empty(), "there is a port");
  Demand(config.database_connections > 0 && config.max_connections > 0 &&
             config.max_waiting_calls > 0 && config.max_waiting_calls_per_connection > 0,
         "a bound is positive");
  Demand(config.drain_timeout >= absl::ZeroDuration() &&
             config.drain_timeout < absl::InfiniteDuration(),
         "a drain comes to its end");
}

void ReadSettingsFile(absl::string_view bytes) {
  static CLI::App app;
  static config::Options options;
  static const bool is_declared = [] {
    config::DeclareOptions("1.0", &app, &options);
    return true;
  }();
  Demand(is_declared, "there are flags");
  std::istringstream file{std::string(bytes)};
  try {
    for (const CLI::ConfigItem& item : config::SettingsFile(&app).from_config(file)) {
      Demand(item.parents.empty() && item.inputs.size() == 1, "a setting has one value");
    }
  } catch (const CLI::ConfigError& error) {
    Demand(!absl::StrContains(error.what(), kSecret), "a password is not repeated");
  }
}

void ReadConfig(absl::string_view bytes) {
  const size_t choice = TakeChoice(&bytes, 3);
  // Files of this machine are not read.
  if (absl::StrContains(bytes, "database-file") || absl::StrContains(bytes, "--config")) return;
  if (choice == 2) return ReadSettingsFile(bytes);
  std::vector<std::string> arguments;
  if (choice == 1) {
    arguments = {"--config", FileOf(bytes)};
  } else {
    arguments = absl::StrSplit(bytes, '\n');
  }
  const auto parsed = config::ParseConfig(arguments, "1.0");
  if (const auto* const config = std::get_if<config::Config>(&parsed)) {
    DemandConfig(*config);
    return;
  }
  const auto& exit = std::get<config::EarlyExit>(parsed);
  Demand(exit.code == 0 || exit.code == 2, "what is not run is help or an error");
  Demand(!exit.text.empty(), "there is something to say");
  Demand(!absl::StrContains(exit.text, kSecret), "a password is not repeated");
}

const Target kConfig("config", &ReadConfig);

}  // namespace
}  // namespace skiplane::fuzz
