// Tasks that a program asks for, as it writes them: one JSON object per line, with the members that
// `skiplane enqueue --jsonl` takes.
#pragma once

#include <istream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "skiplane/ack.h"

namespace skiplane::cli {

// Those without a queue go to `own_queue`. A failure names the line.
absl::StatusOr<std::vector<NewTask>> ReadFollowUps(std::istream& in,
                                                   const std::string& own_queue);

}  // namespace skiplane::cli
