#include "tests/simulation/shrink.h"

#include <algorithm>
#include <utility>

#include "tests/simulation/world.h"

namespace skiplane::simulation {
namespace {

bool IsBroken(const History& history) { return !World(history).Play().empty(); }

// Without an input the others meet other delays and failures: several of them are tried.
bool IsBrokenWithLuck(History& history) {
  constexpr uint64_t kTries = 8;
  for (uint64_t luck = 0; luck < kTries; ++luck) {
    History other = history;
    other.luck = history.luck + luck;
    if (!IsBroken(other)) continue;
    history.luck = other.luck;
    return true;
  }
  return false;
}

bool TryWithout(History& history, size_t first, size_t count) {
  History shorter = history;
  const auto from = shorter.inputs.begin() + static_cast<ptrdiff_t>(first);
  shorter.inputs.erase(from, from + static_cast<ptrdiff_t>(count));
  if (!IsBrokenWithLuck(shorter)) return false;
  history = std::move(shorter);
  return true;
}

// Fewer and fewer at once.
void LeaveOut(History& history) {
  for (size_t count = std::max<size_t>(1, history.inputs.size() / 2); count > 0; count /= 2) {
    for (size_t first = 0; first + count <= history.inputs.size();) {
      if (!TryWithout(history, first, count)) first += count;
    }
  }
}

// What happens at random goes first: the rest is easier to follow without it.
void Calm(History& history, int History::*rate) {
  History calm = history;
  calm.*rate = 0;
  if (IsBrokenWithLuck(calm)) history = std::move(calm);
}

}  // namespace

History Shrink(History history) {
  for (const auto rate : {&History::dying, &History::failing, &History::lost,
                          &History::lease_next, &History::hand_off}) {
    Calm(history, rate);
  }
  size_t before = 0;
  do {
    before = history.inputs.size();
    LeaveOut(history);
  } while (history.inputs.size() < before);
  return history;
}

}  // namespace skiplane::simulation
