#include "client/cli/input/plan.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace skiplane::cli {

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
