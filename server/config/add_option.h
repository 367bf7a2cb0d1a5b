// How a flag is declared: with its environment variable, and so that the last one given counts.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "CLI/CLI.hpp"
#include "server/base/bearer_token.h"
#include "server/config/settings_file.h"

namespace skiplane::config {

template <typename T>
CLI::Option* Add(CLI::App* app, const std::string& flag, T* value, const std::string& help) {
  return app->add_option("--" + flag, *value, help)
      ->envname(EnvironmentName(flag))
      ->type_name("")  // its check says what it takes
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

inline CLI::Option* AddSwitch(CLI::App* app, const std::string& flag, bool* value,
                              const std::string& help) {
  return app->add_flag("--" + flag, *value, help)
      ->envname(EnvironmentName(flag))
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

// `opposite`: the same setting by another name, which turns the value round.
inline CLI::Option* AddSwitch(CLI::App* app, const std::string& flag, const std::string& opposite,
                              bool* value, const std::string& help) {
  return AddSwitch(app, flag + ",!--" + opposite, value, help)->envname(EnvironmentName(flag));
}

inline CLI::Option* AddList(CLI::App* app, const std::string& flag,
                            std::vector<std::string>* values, const std::string& help) {
  return Add(app, flag, values, help)
      ->delimiter(',')
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->expected(1);
}

// A file that the account of this program cannot reach is there perhaps.
inline std::string CheckFile(const std::string& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  const std::string shown = base::ShownPath(path);
  if (std::filesystem::is_regular_file(status) || std::filesystem::is_fifo(status)) {
    if (access(path.c_str(), R_OK) == 0) return "";
    return shown + " cannot be read: " + std::strerror(errno);
  }
  if (status.type() == std::filesystem::file_type::not_found) {
    return "File does not exist: " + shown;
  }
  return error ? shown + " cannot be reached: " + error.message() : shown + " is no file";
}

inline std::string CheckNotEmpty(const std::string& text) { return text.empty() ? "is empty" : ""; }

}  // namespace skiplane::config
