#include "server/app/serve.h"

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "server/app/app.h"
#include "server/app/files/access_files.h"
#include "server/app/files/file_watch.h"
#include "server/app/ready_file.h"
#include "server/app/reload.h"
#include "server/app/version.h"
#include "server/base/log.h"
#include "server/base/status_macros.h"

namespace skiplane::app {
namespace {

using base::Log;
using base::LogLevel;

std::string TlsKind(const config::Tls& tls) {
  if (!tls.enabled()) return "off";
  return tls.client_ca_file.empty() || !tls.requires_client ? "on" : "mutual";
}

void LogServing(const config::Config& config, const App& app) {
  Log(LogLevel::kInfo, "serving",
      {{"version", kVersion},
       {"commit", kCommit},
       {"listen", config.listen},
       {"port", absl::StrCat(app.port())},
       {"http_listen", app.http_port() == 0 ? "" : config.http_listen},
       {"http_port", absl::StrCat(app.http_port())},
       {"metrics_listen", config.metrics_listen},
       {"metrics_port", absl::StrCat(app.metrics_port())},
       {"tls", TlsKind(config.tls)},
       {"access", DescribeAccess(config)},
       {"database", app.database()},
       {"directory", config.embedded_dir}});
}

int AwaitEnd(const std::vector<std::string>& arguments, const config::Config& config, App& app,
             Signals& signals, FileWatch& watch) {
  for (;;) {
    const Signals::Request request = signals.Next();
    if (request.end_signal != 0) return request.end_signal;
    Reload(arguments, config, app, watch);
  }
}

}  // namespace

absl::Status Serve(const std::vector<std::string>& arguments, const config::Config& config,
                   Signals& signals) {
  // Before the files are read: what changes during the start counts, too.
  FileWatch watch(WatchedFiles(config), [&signals] { signals.AskReload(); });
  ASSIGN_OR_RETURN(std::unique_ptr<App> app, App::Start(config));
  RETURN_IF_ERROR(WriteReadyFile(config, *app));
  LogServing(config, *app);
  const int signal = AwaitEnd(arguments, config, *app, signals, watch);
  Log(LogLevel::kInfo, "draining", {{"signal", absl::StrCat(signal)}});
  app->Drain();
  app.reset();
  Log(LogLevel::kInfo, "ended");
  return absl::OkStatus();
}

}  // namespace skiplane::app
