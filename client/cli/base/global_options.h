// What every command understands.
#pragma once

#include <optional>
#include <string>

#include "absl/time/time.h"

namespace skiplane::cli {

struct GlobalOptions {
  // One or several addresses, separated by commas.
  std::string broker = "127.0.0.1:7070";
  std::string actor{};
  // With a bearer token in its first line, read again when it changes; empty: none.
  std::string token_file{};
  bool json = false;
  // Of a command that lists: how its table is sorted, and which columns it has; empty: as usual.
  std::string sort{};
  std::string columns{};
  // States and failures are coloured.
  bool is_colored = false;
  // Unset: show once.
  std::optional<absl::Duration> watch{};
  absl::Duration timeout = absl::Seconds(20);
  bool tls = false;
  std::string tls_ca{};
  std::string tls_cert{};
  std::string tls_key{};
  std::string tls_server_name{};
};

}  // namespace skiplane::cli
