#include "server/access/verb.h"

namespace skiplane::access {
namespace {

constexpr absl::string_view kNames[kVerbs] = {"enqueue",      "lease",   "read",
                                              "read_payload", "operate", "admin"};

}  // namespace

absl::string_view VerbName(Verb verb) { return kNames[static_cast<size_t>(verb)]; }

std::optional<Verb> FindVerb(absl::string_view name) {
  for (size_t i = 0; i < kVerbs; ++i) {
    if (kNames[i] == name) return static_cast<Verb>(i);
  }
  return std::nullopt;
}

}  // namespace skiplane::access
