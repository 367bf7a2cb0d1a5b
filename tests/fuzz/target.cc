#include "tests/fuzz/target.h"

#include <cstdlib>
#include <iostream>

#include "absl/strings/str_cat.h"
#include "server/base/reason.h"
#include "skiplane/v1/error_reason.pb.h"

namespace skiplane::fuzz {

Target::Target(const char* target_name, Function function) : name(target_name), run(function) {
  Targets().push_back(*this);
}

std::vector<Target>& Targets() {
  static std::vector<Target> targets;
  return targets;
}

void Demand(bool holds, absl::string_view what) {
  if (holds) return;
  std::cerr << "Does not hold: " << what << std::endl;
  std::abort();
}

void DemandRefusal(const absl::Status& status) {
  Demand(status.code() == absl::StatusCode::kInvalidArgument,
         absl::StrCat("a refusal is INVALID_ARGUMENT: ", status.ToString()));
  const std::string reason = base::ReasonOf(status);
  v1::ErrorReason known;
  Demand(v1::ErrorReason_Parse(absl::StrCat("ERROR_REASON_", reason), &known),
         absl::StrCat("a reason is in the list: ", reason));
}

size_t TakeChoice(absl::string_view* bytes, size_t count) {
  if (bytes->empty()) return 0;
  const auto byte = static_cast<unsigned char>(bytes->front());
  bytes->remove_prefix(1);
  return byte % count;
}

}  // namespace skiplane::fuzz
