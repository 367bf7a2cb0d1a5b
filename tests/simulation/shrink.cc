#include "tests/simulation/shrink.h"

#include <algorithm>
#include <utility>

#include "tests/simulation/world.h"

namespace skiplane::simulation {
namespace {

bool IsBroken(const History& history) { return !World(history).Play().empty(); }

bool TryWithout(History& history, size_t first, size_t count) {
  History shorter = history;
  const auto from = shorter.inputs.begin() + static_cast<ptrdiff_t>(first);
  shorter.inputs.erase(from, from + static_cast<ptrdiff_t>(count));
  if (!IsBroken(shorter)) return false;
  history = std::move(shorter);
  return true;
}

// What happens at random goes first: the rest is easier to follow without it.
void Calm(History& history, int History::*rate) {
  const int before = std::exchange(history.*rate, 0);
  if (!IsBroken(history)) history.*rate = before;
}

}  // namespace

History Shrink(History history) {
  for (const auto rate :
       {&History::dying, &History::failing, &History::lost, &History::lease_next}) {
    Calm(history, rate);
  }
  for (size_t count = std::max<size_t>(1, history.inputs.size() / 2); count > 0; count /= 2) {
    for (size_t first = 0; first + count <= history.inputs.size();) {
      if (!TryWithout(history, first, count)) first += count;
    }
  }
  return history;
}

}  // namespace skiplane::simulation
