// What the command line asks for: filled by parsing, done afterwards. So parsing can be tested
// without a broker, and nothing is done when a later word is wrong.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "client/cli/base/global_options.h"
#include "client/cli/base/session.h"

namespace CLI {
class App;
}  // namespace CLI

namespace skiplane::cli {

using Run = std::function<absl::Status(Session&)>;

struct Plan {
  GlobalOptions options{};
  // The command; empty when it needs no broker and has done its work.
  Run run{};
  // Whether the command only shows something, so that --watch may repeat it.
  bool is_view = false;
  // What stood after "--", as it was; for commands that say that they take it.
  std::vector<std::string> rest{};
  bool takes_rest = false;
};

// Adds a command that does `run`. The description is its manual.
CLI::App* AddCommand(CLI::App* parent, Plan* plan, const std::string& name,
                     const std::string& description, Run run);

// The same for a command that only shows something.
CLI::App* AddView(CLI::App* parent, Plan* plan, const std::string& name,
                  const std::string& description, Run run);

// The same for commands whose options are declared on the result and kept in `options`.
template <typename Options>
CLI::App* AddCommand(CLI::App* parent, Plan* plan, const std::string& name,
                     const std::string& description, std::shared_ptr<Options> options,
                     absl::Status (*run)(Session&, const Options&)) {
  return AddCommand(parent, plan, name, description,
                    [options, run](Session& session) { return run(session, *options); });
}

template <typename Options>
CLI::App* AddView(CLI::App* parent, Plan* plan, const std::string& name,
                  const std::string& description, std::shared_ptr<Options> options,
                  absl::Status (*run)(Session&, const Options&)) {
  return AddView(parent, plan, name, description,
                 [options, run](Session& session) { return run(session, *options); });
}

// The command of this name, which `parent` has.
CLI::App* CommandOf(CLI::App* parent, const std::string& name);

// The command gets what stands after "--".
void TakeRest(CLI::App* app, Plan* plan, std::vector<std::string>* rest);

// A command that consists of others.
CLI::App* AddGroup(CLI::App* parent, const std::string& name, const std::string& description);

// Lines below the options in --help.
void AddExamples(CLI::App* app, const std::vector<std::string>& lines);

}  // namespace skiplane::cli
