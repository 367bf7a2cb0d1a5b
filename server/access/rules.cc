#include "server/access/rules.h"

#include "absl/strings/str_cat.h"

namespace skiplane::access {

void Rules::AddTo(Grants& grants, absl::string_view who) const {
  const auto found = by_who_.find(who);
  if (found == by_who_.end()) return;
  for (const Rule& rule : found->second) {
    for (const Verb verb : rule.verbs) {
      QueueSet& queues = grants.queues_[static_cast<size_t>(verb)];
      for (const std::string& pattern : rule.patterns) queues.Add(pattern);
    }
  }
}

Grants Rules::Resolve(const Principal& principal) const {
  Grants grants;
  if (is_open_) {
    for (QueueSet& queues : grants.queues_) queues.Add("*");
    return grants;
  }
  AddTo(grants, "everyone");
  AddTo(grants, principal.name);
  for (const std::string& group : principal.groups) AddTo(grants, absl::StrCat("group:", group));
  const auto found = groups_of_.find(principal.name);
  if (found == groups_of_.end()) return grants;
  for (const std::string& group : found->second) AddTo(grants, absl::StrCat("group:", group));
  return grants;
}

bool Rules::Allows(const Principal& principal, Verb verb, absl::string_view queue) const {
  return Resolve(principal).Allows(verb, queue);
}

}  // namespace skiplane::access
