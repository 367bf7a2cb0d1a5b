// The bytes of answers on their way to callers. A caller that does not read its answers must not
// fill the broker's memory: while this is full, nothing more is leased. And it must not keep others
// from theirs: whatever one party has there counts as its part at most, and from then on it gets
// nothing more. A party is a principal or, where nobody proves who it is, a connection.
//
// Thread-safe. What Hold() returns may outlive the object.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/container/flat_hash_set.h"
#include "absl/functional/any_invocable.h"

namespace skiplane::broker {

class AnswerMemory {
 public:
  struct Limits {
    int64_t bytes;
    int party_share;  // percent of them; 100: a party has no part of its own
  };

  // For whom there is no room now.
  struct Full {
    bool for_all = false;
    absl::flat_hash_set<std::string> parties;
  };

  // `on_room` is called when it is full no more, for all or for a party, from whatever thread made
  // room, perhaps under locks: it must not block. Never after the destructor.
  AnswerMemory(Limits limits, absl::AnyInvocable<void()> on_room);
  ~AnswerMemory();
  AnswerMemory(const AnswerMemory&) = delete;
  AnswerMemory& operator=(const AnswerMemory&) = delete;

  // Counts the bytes until the last copy of what it returns is gone.
  std::shared_ptr<const void> Hold(const std::string& party, int64_t bytes);

  // An answer that was under way when it became full may exceed it.
  bool IsFullFor(const std::string& party) const;
  Full WhoIsFull() const;

 private:
  struct State;
  const std::shared_ptr<State> state_;
};

}  // namespace skiplane::broker
