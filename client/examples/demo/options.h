// The command line of the demonstration.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace skiplane::demo {

struct Options {
  std::string address = "127.0.0.1:7070";
  std::string queue;               // empty: a new name per run
  std::vector<std::string> roots;  // folders whose files become tasks
  int workers = 4;                 // processes
  int threads = 2;                 // handlers in each of them
  int lease_seconds = 3;           // after which a dead worker's tasks come back
  bool kill_one = false;
  // Set in the worker processes that the demonstration starts: where they report to.
  std::optional<int> report_fd;
};

// Prints what is wrong, or the help that was asked for, and returns nullopt.
std::optional<Options> ParseOptions(const std::vector<std::string>& arguments);

// The command line of a worker process.
std::vector<std::string> WorkerArguments(const Options& options, int report_fd);

}  // namespace skiplane::demo
