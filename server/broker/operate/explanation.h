// Why a task does not run, as reasons and in words. Pure functions.
#pragma once

#include <optional>

#include "server/broker/api/operator_calls.h"
#include "server/model/queue.h"
#include "server/store/clock.h"

namespace skiplane::broker {

// Sets `reasons` and `text` of `why` by all that it holds else. `step`: a step of the database's
// clock that the task's time was named before.
void Explain(const model::Queue& queue, const std::optional<store::ClockStep>& step,
             Explanation* why);

}  // namespace skiplane::broker
