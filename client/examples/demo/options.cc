#include "client/examples/demo/options.h"

#include <iostream>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace skiplane::demo {
namespace {

constexpr char kHelp[] =
    R"(Makes one task of every file below some folders, lets worker processes compute the SHA-256
and the word count of each, kills one of them on the way if asked to, and proves that no file was
lost.

  skiplane-demo --root DIR [--root DIR]...
    --address HOST:PORT   the broker                                 (127.0.0.1:7070)
    --queue NAME          the queue, made if need be                 (a new one per run)
    --workers N           worker processes, 1 to 64                  (4)
    --threads N           handlers in each of them, 1 to 64          (2)
    --lease-seconds N     silence after which a worker is dead, 1 to 60 (3)
    --kill-one            kill -9 one worker while it holds tasks
)";

bool ParseNumber(const std::string& text, int max, int& number) {
  return absl::SimpleAtoi(text, &number) && number >= 1 && number <= max;
}

// Returns whether `name` with `value` is right.
bool Set(Options& options, const std::string& name, const std::string& value) {
  if (name == "--address") return options.address = value, !value.empty();
  if (name == "--queue") return options.queue = value, !value.empty();
  if (name == "--root") return options.roots.push_back(value), !value.empty();
  if (name == "--workers") return ParseNumber(value, 64, options.workers);
  if (name == "--threads") return ParseNumber(value, 64, options.threads);
  if (name == "--lease-seconds") return ParseNumber(value, 60, options.lease_seconds);
  if (name == "--report-fd") return ParseNumber(value, 1023, options.report_fd.emplace());
  return false;
}

}  // namespace

std::optional<Options> ParseOptions(const std::vector<std::string>& arguments) {
  Options options;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--help") {
      std::cout << kHelp;
      return std::nullopt;
    }
    if (arguments[i] == "--kill-one") {
      options.kill_one = true;
      continue;
    }
    const std::string value = i + 1 < arguments.size() ? arguments[i + 1] : "";
    if (!Set(options, arguments[i], value)) {
      std::cerr << "skiplane-demo: " << arguments[i] << " " << value
                << " is not understood; see --help\n";
      return std::nullopt;
    }
    ++i;
  }
  if (options.roots.empty() && !options.report_fd) {
    std::cerr << "skiplane-demo: --root is missing; see --help\n";
    return std::nullopt;
  }
  return options;
}

std::vector<std::string> WorkerArguments(const Options& options, int report_fd) {
  return {"skiplane-demo",
          "--address",
          options.address,
          "--queue",
          options.queue,
          "--threads",
          absl::StrCat(options.threads),
          "--lease-seconds",
          absl::StrCat(options.lease_seconds),
          "--report-fd",
          absl::StrCat(report_fd)};
}

}  // namespace skiplane::demo
