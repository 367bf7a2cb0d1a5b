#include "server/access/rules.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace skiplane::access {

bool Grants::Allows(Verb verb, absl::string_view queue) const {
  return std::any_of(parts_.begin(), parts_.end(), [verb, queue](const auto& part) {
    return (*part)[static_cast<size_t>(verb)].Contains(queue);
  });
}

bool Grants::AllowsSome(Verb verb) const {
  return std::any_of(parts_.begin(), parts_.end(), [verb](const auto& part) {
    return !(*part)[static_cast<size_t>(verb)].is_empty();
  });
}

bool Grants::AllowsAll(Verb verb) const {
  return std::any_of(parts_.begin(), parts_.end(), [verb](const auto& part) {
    return (*part)[static_cast<size_t>(verb)].has_all();
  });
}

std::vector<std::string> Grants::PatternsOf(Verb verb) const {
  std::vector<std::string> all;
  for (const auto& part : parts_) {
    for (std::string& pattern : (*part)[static_cast<size_t>(verb)].Patterns()) {
      all.push_back(std::move(pattern));
    }
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

std::shared_ptr<const Grants::Queues> Rules::Find(absl::string_view who) const {
  const auto found = by_who_.find(who);
  return found == by_who_.end() ? nullptr : found->second;
}

Grants Rules::Resolve(const Principal& principal) const {
  Grants grants;
  if (is_open_) {
    static const auto* const everything = new std::shared_ptr<const Grants::Queues>([] {
      auto made = std::make_shared<Grants::Queues>();
      for (QueueSet& queues : *made) queues.Add("*");
      return made;
    }());
    grants.parts_.push_back(*everything);
    return grants;
  }
  std::vector<std::string> all = {"everyone", principal.name};
  for (const std::string& group : principal.groups) all.push_back(absl::StrCat("group:", group));
  const auto found = groups_of_.find(principal.name);
  if (found != groups_of_.end()) {
    for (const std::string& group : found->second) all.push_back(absl::StrCat("group:", group));
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  for (const std::string& who : all) {
    std::shared_ptr<const Grants::Queues> part = Find(who);
    if (part != nullptr) grants.parts_.push_back(std::move(part));
  }
  return grants;
}

std::vector<std::string> Rules::Named() const {
  std::vector<std::string> named;
  for (const auto& [who, queues] : by_who_) named.push_back(who);
  std::sort(named.begin(), named.end());
  return named;
}

bool Rules::Allows(const Principal& principal, Verb verb, absl::string_view queue) const {
  return Resolve(principal).Allows(verb, queue);
}

}  // namespace skiplane::access
