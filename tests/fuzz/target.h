// A target of fuzzing: a function that reads what a peer, an operator or the database sends, and
// demands of what it read whatever must hold. It takes any bytes.
//
// Each file of tests/fuzz/targets makes one Target. libFuzzer shows inputs to one of them
// (fuzzer.cc); the test corpus_test shows each of them the seeds that are kept for it.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace skiplane::fuzz {

struct Target {
  using Function = void (*)(absl::string_view bytes);

  Target(const char* name, Function run);

  const char* name;
  Function run;
};

// Those of this program.
std::vector<Target>& Targets();

// Ends the program, saying `what`, unless it `holds`.
void Demand(bool holds, absl::string_view what);

// That `status` is INVALID_ARGUMENT with a reason that callers are told of.
void DemandRefusal(const absl::Status& status);

// Takes the first byte, which chooses among `count`; the first choice of none.
size_t TakeChoice(absl::string_view* bytes, size_t count);

}  // namespace skiplane::fuzz
