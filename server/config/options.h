// The flags of skiplaned, with their help texts and the checks of each by itself.
#pragma once

#include <string>

#include "CLI/CLI.hpp"
#include "absl/strings/string_view.h"
#include "server/config/config.h"

namespace skiplane::config {

// The flags as they were given; those that are no text or number yet go where they can be read.
struct Options {
  Config config;
  std::string database_file;
  bool no_migrate = false;
  bool no_hand_off = false;
  bool wants_dashboard = false;  // counts if dashboard->count() is not 0
  std::string reflection = "auto";
  std::string client_certificate;  // empty: required
  std::string drain_timeout = "8s";
  std::string log_level = "info";
  std::string log_format = "text";

  CLI::Option* dashboard = nullptr;
};

// Makes `app` fill `options`, which must outlive it.
void DeclareOptions(absl::string_view version, CLI::App* app, Options* options);

}  // namespace skiplane::config
