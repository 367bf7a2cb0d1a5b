// The quick start's demonstration; see --help.
#include <string>
#include <vector>

#include "client/examples/demo/demo.h"
#include "client/examples/demo/worker_process.h"

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const auto options = skiplane::demo::ParseOptions(arguments);
  if (!options) return arguments == std::vector<std::string>{"--help"} ? 0 : 2;
  if (options->report_fd) return skiplane::demo::RunWorkerProcess(*options);
  return skiplane::demo::RunDemo(*options);
}
