// How --help shows a command: its usage, then what it does, wrapped; an option with its value,
// default and environment variable on one line, then what it does.
#pragma once

#include <string>

#include "CLI/CLI.hpp"

namespace skiplane::cli {

class Help : public CLI::Formatter {
 public:
  Help() { column_width(26); }
  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override;
  std::string make_usage(const CLI::App* app, std::string name) const override;
  std::string make_description(const CLI::App* app) const override;
  std::string make_subcommand(const CLI::App* app) const override;
  std::string make_footer(const CLI::App* app) const override;
  std::string make_option_name(const CLI::Option* option, bool is_positional) const override;
  std::string make_option_opts(const CLI::Option* option) const override;
  std::string make_option_desc(const CLI::Option* option) const override;
};

}  // namespace skiplane::cli
