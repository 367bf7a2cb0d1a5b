// What callers may do: the file of rules.
//
//   # producers and workers of billing
//   group billing = token:invoicer, certificate:billing.internal
//   allow group:billing to enqueue, lease on billing-*
//   allow jwt:ann@example.org to operate, read, read_payload on *
//   allow everyone to read on public-?, status
//
// A rule is `allow WHO to VERBS on QUEUES`. WHO is the name of a principal, `group:NAME` or
// `everyone`; VERBS are those of verb.h, or `all`. A principal is in a group if the file, its
// token's line or its JSON Web Token says so. What no rule allows is denied; rules take nothing
// away, so their order does not matter. Without a file everything is allowed.
//
// Does not change; used by any thread.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/access/principal.h"
#include "server/access/queue_set.h"
#include "server/access/verb.h"

namespace skiplane::access {

// What the rules allow to one principal. Made once for it and kept: a question is answered without
// looking at its name again. Shares what it holds with the rules, and outlives them; does not
// change.
class Grants {
 public:
  bool Allows(Verb verb, absl::string_view queue) const;
  // On any queue at all: whether a list is worth making.
  bool AllowsSome(Verb verb) const;
  // On every queue: a list need not be filtered. False if only several patterns together are all.
  bool AllowsAll(Verb verb) const;
  // The names and patterns of queues on which it is allowed, sorted.
  std::vector<std::string> PatternsOf(Verb verb) const;

  // Whether both are of the same rules, as they were loaded once, and alike.
  friend bool operator==(const Grants&, const Grants&) = default;

 private:
  friend class Rules;
  friend class RulesFile;

  // By verb: what all rules of one WHO allow.
  using Queues = std::array<QueueSet, kVerbs>;

  std::vector<std::shared_ptr<const Queues>> parts_;
};

class Rules {
 public:
  // No file: everything is allowed to everybody.
  Rules() = default;

  // FAILED_PRECONDITION, naming `file`, line and word and what is expected, for a line that is not
  // as above, and for a file without a rule, which would otherwise allow everything.
  static absl::StatusOr<Rules> Parse(absl::string_view text, absl::string_view file);

  Grants Resolve(const Principal& principal) const;

  // The WHO of the rules, sorted.
  std::vector<std::string> Named() const;
  // By the names of their members.
  const absl::flat_hash_map<std::string, std::vector<std::string>>& groups() const {
    return groups_of_;
  }

  // Without keeping the grants: for tests, and for who asks once.
  bool Allows(const Principal& principal, Verb verb, absl::string_view queue) const;

 private:
  friend class RulesFile;

  // Null if no rule names it.
  std::shared_ptr<const Grants::Queues> Find(absl::string_view who) const;

  bool is_open_ = true;
  absl::flat_hash_map<std::string, std::shared_ptr<Grants::Queues>> by_who_;  // "group:ops"
  absl::flat_hash_map<std::string, std::vector<std::string>> groups_of_;  // by a member's name
};

}  // namespace skiplane::access
