// The bytes of leased tasks on their way to callers. A caller that does not read its answers must
// not fill the broker's memory: while this is full, nothing more is leased.
//
// Thread-safe. What Hold() returns may outlive the object.
#pragma once

#include <cstdint>
#include <memory>

#include "absl/functional/any_invocable.h"

namespace skiplane::broker {

class AnswerMemory {
 public:
  // `on_room` is called when it is full no more, from whatever thread made room, perhaps under
  // locks: it must not block. Never after the destructor.
  AnswerMemory(int64_t bytes_max, absl::AnyInvocable<void()> on_room);
  ~AnswerMemory();
  AnswerMemory(const AnswerMemory&) = delete;
  AnswerMemory& operator=(const AnswerMemory&) = delete;

  // Counts the bytes until the last copy of what it returns is gone.
  std::shared_ptr<const void> Hold(int64_t bytes);

  // An answer that was under way when it became full may exceed it.
  bool IsFull() const;

 private:
  struct State;
  const std::shared_ptr<State> state_;
};

}  // namespace skiplane::broker
