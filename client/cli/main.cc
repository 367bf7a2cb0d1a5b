// The command line of Skiplane. docs/CLI.md describes it; --help of each command is its manual.
#include <cstdlib>
#include <iostream>
#include <variant>

#include "client/cli/base/exit_code.h"
#include "client/cli/base/watch.h"
#include "client/cli/input/parse.h"

namespace {

using namespace skiplane::cli;  // NOLINT(google-build-using-namespace): this file has no header

absl::Status Execute(const Plan& plan) {
  absl::StatusOr<Session> session = Session::Open(plan.options);
  if (!session.ok()) return session.status();
  if (plan.options.watch) return Watch(*session, *plan.options.watch, plan.run);
  return plan.run(*session);
}

}  // namespace

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  // What gRPC says of each try to connect is in our own message once, in words.
  setenv("GRPC_VERBOSITY", "NONE", /*replace=*/0);
  const std::variant<Plan, EarlyExit> parsed = Parse({argv + 1, argv + argc});
  if (const auto* const exit = std::get_if<EarlyExit>(&parsed)) {
    (exit->code == kOk ? std::cout : std::cerr) << exit->text;
    return exit->code;
  }
  const absl::Status status = Execute(std::get<Plan>(parsed));
  std::cout.flush();
  if (!status.ok()) std::cerr << "skiplane: " << Explain(status) << "\n";
  if (!NextStep(status).empty()) std::cerr << NextStep(status) << "\n";
  const int code = status.ok() && !std::cout ? kLocal : ExitCodeOf(status);
  // Not by return: gRPC's threads may still let go of the last call while its statics end.
  std::cerr.flush();
  std::quick_exit(code);
}
