#include "server/app/reload.h"

#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "server/app/version.h"
#include "server/base/log.h"
#include "server/base/status_macros.h"
#include "server/config/changes.h"
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

}  // namespace

Reloader::Reloader(const std::vector<std::string>& arguments, const config::Config& config,
                   FilePrints files, App& app, FileWatch& watch)
    : arguments_(arguments),
      config_(config),
      files_(std::move(files)),
      access_(config.access),
      app_(app),
      watch_(watch) {}

absl::Status Reloader::Try() {
  ASSIGN_OR_RETURN(const config::Config read, ReadAgain(arguments_));
  watch_.Follow(WatchedFiles(read));
  FilePrints files = PrintsOf(read);
  RETURN_IF_ERROR(app_.ReloadFiles(read));
  const std::vector<std::string> changed = ChangedFiles(files_, files);
  // Only then: a new certificate must not send a whole fleet back at the same instant.
  if (DecideAccess(changed) || read.access != access_) app_.EndLeaseWaits();
  // Said at the more talkative of the two levels.
  if (!base::IsLogged(read.log_level)) base::SetLogLevel(read.log_level);
  base::Log(base::LogLevel::kInfo, "reloaded",
            {{"log_level", std::string(base::LogLevelName(read.log_level))},
             {"log_level_from", config::SourceOf(arguments_, "log-level")},
             {"tls", DescribeTls(read.tls)},
             {"access", DescribeAccess(read)},
             {"changed", absl::StrJoin(changed, ",")}});
  base::SetLogLevel(read.log_level);
  files_ = std::move(files);
  access_ = read.access;
  const std::vector<std::string> others = config::OtherChanges(config_, read);
  if (!others.empty()) {
    base::Log(base::LogLevel::kWarn, "restart_needed",
              {{"settings", absl::StrJoin(others, ",")},
               {"why", "these settings have changed, and are taken at the next start"}});
  }
  return absl::OkStatus();
}

bool Reloader::Reload() {
  const absl::Status status = Try();
  app_.SetReloaded(status.ok());
  if (status.ok()) return true;
  base::Log(base::LogLevel::kError, "reload_failed",
            {{"why", absl::StrCat(status.message(), "; nothing was changed")}});
  return false;
}

}  // namespace skiplane::app
