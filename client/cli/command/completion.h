// Scripts that make a shell complete commands, options and queue names.
#pragma once

#include <string>


namespace CLI {
class App;
}  // namespace CLI

namespace skiplane::cli {

// Of all commands below `app`.
std::string BashCompletion(const CLI::App& app);
// Bash's, by way of zsh's bashcompinit.
std::string ZshCompletion(const CLI::App& app);
std::string FishCompletion(const CLI::App& app);

}  // namespace skiplane::cli
