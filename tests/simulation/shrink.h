// The shortest history that still breaks an invariant.
#pragma once

#include "tests/simulation/history.h"

namespace skiplane::simulation {

// Leaves inputs out as long as anything is broken; `history` breaks something.
History Shrink(History history);

}  // namespace skiplane::simulation
