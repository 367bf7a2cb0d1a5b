// Whether what is seen of a queue differs from what was told of it by so much that it is told
// again. Pure functions.
#pragma once

#include "server/broker/api/report_calls.h"

namespace skiplane::broker {

// A rate or an age differs when one of both is zero or they are more than a tenth apart: while
// tasks wait they change with every look, and who reads them would be told all the time. An age of
// nothing that is there does not count. A change of settings does, although a summary does not show
// them.
bool IsChange(const QueueSummary& told, const QueueSummary& seen);

// About how many bytes it takes as a message.
int64_t WeightOf(const QueueSummary& summary);

}  // namespace skiplane::broker
