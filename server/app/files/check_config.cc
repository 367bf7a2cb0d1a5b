#include "server/app/files/check_config.h"

#include <iostream>
#include <optional>
#include <string>

#include "server/app/files/access_files.h"
#include "server/app/files/config_warnings.h"
#include "server/base/status_macros.h"

namespace skiplane::app {

absl::Status CheckConfig(const config::Config& config) {
  const std::optional<net::TlsFiles> tls = TlsFilesOf(config.tls);
  if (tls.has_value()) RETURN_IF_ERROR(net::ReadTlsFiles(*tls).status());
  RETURN_IF_ERROR(ReadAccessFiles(config).status());
  std::cout << "the settings are right, and so are the files that they name\n"
            << "tls: " << (tls.has_value() ? "on" : "off") << "\n"
            << "access: " << DescribeAccess(config) << "\n"
            << std::flush;
  for (const std::string& warning : WarningsOf(config)) {
    std::cout << "warning: " << warning << "\n" << std::flush;
  }
  return absl::OkStatus();
}

}  // namespace skiplane::app
