// How --help shows a flag: its name, value, default and environment variable on one line, then what
// it does, wrapped.
#pragma once

#include <string>

#include "CLI/CLI.hpp"

namespace skiplane::config {

class Help : public CLI::Formatter {
 public:
  std::string make_option_name(const CLI::Option* option, bool is_positional) const override;
  std::string make_option_opts(const CLI::Option* option) const override;
  std::string make_option_desc(const CLI::Option* option) const override;
};

}  // namespace skiplane::config
