// What a worker process tells the demonstration: one line of text when an attempt begins and one
// when its work is done, before the task is acked.
#pragma once

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "client/examples/demo/digest.h"

namespace skiplane::demo {

struct Record {
  std::string path{};
  int attempt = 0;
  std::optional<Digest> digest{};  // unset: the attempt begins
};

// Ends with a line feed; the path may hold anything.
std::string ToLine(const Record& record);

// `line` without its line feed; nullopt if it is not one of ours.
std::optional<Record> ParseLine(absl::string_view line);

// Writes all of `line`. False: nobody reads any more.
bool WriteLine(int fd, absl::string_view line);

}  // namespace skiplane::demo
