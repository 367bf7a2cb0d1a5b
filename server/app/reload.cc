#include "server/app/reload.h"

#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "server/app/files/access_files.h"
#include "server/app/version.h"
#include "server/base/log.h"
#include "server/base/status_macros.h"
#include "server/config/source.h"

namespace skiplane::app {
namespace {

absl::StatusOr<config::Config> ReadAgain(const std::vector<std::string>& arguments) {
  auto parsed = config::ParseConfig(arguments, kVersion);
  if (auto* const read = std::get_if<config::Config>(&parsed)) return *std::move(read);
  const std::string& text = std::get<config::EarlyExit>(parsed).text;
  absl::string_view first_line = absl::string_view(text).substr(0, text.find('\n'));
  absl::ConsumePrefix(&first_line, "skiplaned: ");
  return absl::FailedPreconditionError(first_line);
}

bool NeedsRestart(const config::Config& running, config::Config read) {
  read.log_level = running.log_level;
  read.tls = running.tls;
  read.access = running.access;
  return read != running;
}

absl::Status TryReload(const std::vector<std::string>& arguments, const config::Config& config,
                       App& app, FileWatch& watch) {
  ASSIGN_OR_RETURN(const config::Config read, ReadAgain(arguments));
  watch.Follow(WatchedFiles(read));
  RETURN_IF_ERROR(app.ReloadFiles(read));
  // Said at the more talkative of the two levels.
  if (!base::IsLogged(read.log_level)) base::SetLogLevel(read.log_level);
  base::Log(base::LogLevel::kInfo, "reloaded",
            {{"log_level", std::string(base::LogLevelName(read.log_level))},
             {"log_level_from", config::SourceOf(arguments, "log-level")},
             {"tls", read.tls.enabled() ? "on" : "off"},
             {"access", DescribeAccess(read)}});
  base::SetLogLevel(read.log_level);
  if (NeedsRestart(config, read)) {
    base::Log(base::LogLevel::kWarn, "restart_needed",
              {{"why", "other settings than the log level and the files of TLS, credentials and "
                       "rules have changed: they are taken at the next start"}});
  }
  return absl::OkStatus();
}

}  // namespace

void Reload(const std::vector<std::string>& arguments, const config::Config& config, App& app,
            FileWatch& watch) {
  if (absl::Status status = TryReload(arguments, config, app, watch); !status.ok()) {
    base::Log(base::LogLevel::kError, "reload_failed",
              {{"why", absl::StrCat(status.message(), "; nothing was changed")}});
  }
}

}  // namespace skiplane::app
