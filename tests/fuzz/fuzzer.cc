// The entry of libFuzzer: shows inputs to the target whose name is in SKIPLANE_FUZZ_TARGET.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "tests/fuzz/target.h"

namespace skiplane::fuzz {
namespace {

Target::Function Chosen() {
  const char* const name = std::getenv("SKIPLANE_FUZZ_TARGET");
  const auto found = std::find_if(Targets().begin(), Targets().end(), [name](const Target& target) {
    return name != nullptr && target.name == std::string(name);
  });
  Demand(found != Targets().end(), "SKIPLANE_FUZZ_TARGET is a target");
  return found->run;
}

}  // namespace
}  // namespace skiplane::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto run = skiplane::fuzz::Chosen();
  run({reinterpret_cast<const char*>(data), size});
  return 0;
}
