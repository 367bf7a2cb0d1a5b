#include "client/cli/input/table_options.h"

#include "client/cli/input/option.h"

namespace skiplane::cli {

void AddTableOptions(CLI::App* app, Plan* plan) {
  AddText(app, "--sort", &plan->options.sort,
          "Sort what is listed by this column, as failed:desc; with --limit only what that leaves")
      .Type("COLUMN[:desc]");
  AddText(app, "--columns", &plan->options.columns, "Only these columns, in this order")
      .Type("COLUMN,...");
}

}  // namespace skiplane::cli
