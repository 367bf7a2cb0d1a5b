#include "client/cli/input/plan.h"

#include <utility>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace skiplane::cli {

CLI::App* AddCommand(CLI::App* parent, Plan* plan, const std::string& name,
                     const std::string& description, Run run) {
  CLI::App* const app = parent->add_subcommand(name, description);
  app->preparse_callback([plan](size_t) { plan->is_view = false; });
  app->callback([app, plan, run = std::move(run)] {
    if (app->get_subcommands().empty()) plan->run = run;  // else it is called after theirs
  });
  return app;
}

CLI::App* AddView(CLI::App* parent, Plan* plan, const std::string& name,
                  const std::string& description, Run run) {
  CLI::App* const app = AddCommand(parent, plan, name, description, std::move(run));
  app->preparse_callback([plan](size_t) { plan->is_view = true; });
  return app;
}

CLI::App* CommandOf(CLI::App* parent, const std::string& name) {
  return parent->get_subcommand(name);
}

void TakeRest(CLI::App* app, Plan* plan, std::vector<std::string>* rest) {
  app->preparse_callback([plan, rest](size_t) {
    plan->takes_rest = true;
    *rest = plan->rest;
  });
}

CLI::App* AddGroup(CLI::App* parent, const std::string& name, const std::string& description) {
  CLI::App* const app = parent->add_subcommand(name, description);
  app->require_subcommand(1);
  return app;
}

void AddExamples(CLI::App* app, const std::vector<std::string>& lines) {
  app->footer(absl::StrCat("Examples:\n  ", absl::StrJoin(lines, "\n  ")));
}

}  // namespace skiplane::cli
