// The nack of a result that is not Done, cut to what the broker accepts: one error text that is too
// long must not have the results of its neighbours refused.
#pragma once

#include "skiplane/calls.h"
#include "skiplane/worker.h"

namespace skiplane::internal {

NackItem ToNackItem(const LeasedTask& task, const Result& result);

}  // namespace skiplane::internal
