#include "server/app/serve.h"

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/app/app.h"
#include "server/app/files/access_files.h"
#include "server/app/files/config_warnings.h"
#include "server/app/files/file_watch.h"
#include "server/app/notifier.h"
#include "server/app/ready_file.h"
#include "server/app/reload.h"
#include "server/app/version.h"
#include "server/base/log.h"
#include "server/base/status_macros.h"

namespace skiplane::app {
namespace {

using base::Log;
using base::LogLevel;

void LogServing(const config::Config& config, const App& app) {
  Log(LogLevel::kInfo, "serving",
      {{"version", kVersion},
       {"commit", kCommit},
       {"listen", config.listen},
       {"port", absl::StrCat(app.port())},
       {"http_listen", app.http_port() == 0 ? "" : config.http_listen},
       {"http_port", absl::StrCat(app.http_port())},
       {"dashboard", app.dashboard_url()},
       {"metrics_listen", config.metrics_listen},
       {"metrics_port", absl::StrCat(app.metrics_port())},
       {"tls", DescribeTls(config.tls)},
       {"access", DescribeAccess(config)},
       {"database", app.database()},
       {"directory", config.embedded_dir}});
}

// For `systemctl status`.
std::string DescribeServing(const config::Config& config, const App& app) {
  return absl::StrCat("serving gRPC at ", config.listen,
                      app.http_port() == 0 ? "" : ", HTTP at " + config.http_listen);
}

int AwaitEnd(Signals& signals, Reloader& reloader, Notifier& notifier, const std::string& serving) {
  notifier.Ready(serving);
  for (;;) {
    const Signals::Request request = signals.Next();
    if (request.end_signal != 0) return request.end_signal;
    notifier.Reloading();
    const bool is_reloaded = reloader.Reload();
    notifier.Ready(is_reloaded ? serving
                               : serving + "; the last reload failed and changed nothing");
  }
}

}  // namespace

absl::Status Serve(const std::vector<std::string>& arguments, const config::Config& config,
                   Signals& signals) {
  // Before the files are read: what changes during the start counts, too.
  FileWatch watch(WatchedFiles(config), [&signals] { signals.AskReload(); });
  FilePrints files = PrintsOf(config);
  RETURN_IF_ERROR(CheckReadyFile(config));
  ASSIGN_OR_RETURN(std::unique_ptr<App> app, App::Start(config));
  RETURN_IF_ERROR(WriteReadyFile(config, *app));
  LogServing(config, *app);
  if (ShowsPassword(config)) {
    Log(LogLevel::kWarn, "password_on_command_line",
        {{"why", "every account of this machine may read the database's password: use "
                 "--database-file, or set SKIPLANE_DATABASE"}});
  }
  Reloader reloader(arguments, config, std::move(files), *app, watch);
  Notifier notifier;
  const int signal = AwaitEnd(signals, reloader, notifier, DescribeServing(config, *app));
  notifier.Stopping();
  Log(LogLevel::kInfo, "draining", {{"signal", absl::StrCat(signal)}});
  app->Drain();
  app.reset();
  Log(LogLevel::kInfo, "ended");
  return absl::OkStatus();
}

}  // namespace skiplane::app
