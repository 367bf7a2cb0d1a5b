// Calls about error groups, and their answers. `party`: as in LeaseCall.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "server/broker/api/permit.h"
#include "server/model/report.h"

namespace skiplane::broker {

struct ListErrorsCall {
  std::string queue;  // empty: all that `permit` allows
  std::string stage;
  int64_t seen_micros = INT64_MAX;  // where it goes on: after this group
  int64_t after_queue = 0;
  int16_t after_stage = -1;
  std::string after_fingerprint;
  int limit = 0;
  bool hide_muted = false;
  Permit permit{};
  std::string party{};
};

struct AnnotateErrorCall {
  std::string queue;
  std::string fingerprint;
  std::optional<std::string> text;  // unset, as the next: as it is
  std::optional<bool> is_muted;
  model::Origin origin;
  std::string party{};
};

struct ErrorPage {
  model::Page<model::ErrorGroup> groups;
  std::vector<std::string> queues;  // of each group: its name
  std::vector<std::string> stages;  // of each group: its name
};

}  // namespace skiplane::broker
