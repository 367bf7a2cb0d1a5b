// Which tasks are meant: ids one by one, or all that match a filter.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "skiplane/v1/bulk.pb.h"

namespace CLI {
class App;
}  // namespace CLI

namespace skiplane::cli {

struct FilterOptions {
  std::string queue{};
  std::string stage{};
  std::vector<std::string> states{};
  std::string key_prefix{};
  std::vector<std::string> headers{};
  std::string fingerprint{};
  std::optional<absl::Duration> min_age{};
  std::optional<absl::Duration> max_age{};
  bool periodic = false;
  bool not_periodic = false;
  std::vector<std::string> tasks{};
  std::string error_type{};
  std::optional<int> min_attempts{};
  std::optional<absl::Time> from{};
  std::optional<absl::Time> to{};
  std::string payload_text{};
  bool all = false;
};

void AddFilter(CLI::App* app, FilterOptions* options);

// A usage error for a word that is no state, a header without '=', or both of --periodic and
// --not-periodic.
absl::StatusOr<v1::TaskFilter> ToFilter(const FilterOptions& options);

// Splits "key=value".
absl::StatusOr<std::pair<std::string, std::string>> ParseHeader(const std::string& text);

}  // namespace skiplane::cli
