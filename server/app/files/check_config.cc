#include "server/app/files/check_config.h"

#include <iostream>
#include <optional>
#include <string>

#include "server/app/files/access_files.h"
#include "server/app/files/config_warnings.h"
#include "server/base/status_macros.h"
#include "server/pg/conninfo.h"

namespace skiplane::app {

absl::StatusOr<access::Sources> CheckFiles(const config::Config& config) {
  const std::optional<net::TlsFiles> tls = TlsFilesOf(config.tls);
  if (tls.has_value()) RETURN_IF_ERROR(net::ReadTlsFiles(*tls).status());
  ASSIGN_OR_RETURN(access::Sources sources, ReadAccessFiles(config));
  if (!config.database_uri.empty()) {
    RETURN_IF_ERROR(pg::HasPassword(config.database_uri).status());
  }
  return sources;
}

absl::Status CheckConfig(const config::Config& config) {
  ASSIGN_OR_RETURN(const access::Sources sources, CheckFiles(config));
  std::cout << "the settings are right, and so are the files that they name\n"
            << "tls: " << DescribeTls(config.tls) << "\n"
            << "access: " << DescribeAccess(config) << "\n"
            << "dashboard: " << (config.dashboard ? "on" : "off") << "\n"
            << std::flush;
  for (const std::string& warning : WarningsOf(config, sources)) {
    std::cout << "warning: " << warning << "\n" << std::flush;
  }
  return absl::OkStatus();
}

}  // namespace skiplane::app
