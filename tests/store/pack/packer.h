// Packs tasks that have rows of their own, as a broker packs them when it makes them.
#pragma once

#include <string>

namespace skiplane::testing {

// SQL that packs all ordinary tasks of every lane, those that are leased included: neighbours by id
// of one priority, as if they had been made at the same time.
std::string PackTasks();

// SQL that packs the attempts in history that succeeded, those of neighbours by id.
std::string PackAttempts();

}  // namespace skiplane::testing
