// The whole scheduler, with the files in which a fault was planted: their folder comes first in the
// list of includes. What is defined here takes precedence over the room's library.
#include "server/broker/schedule/belief.cc"
#include "server/broker/schedule/bounds.cc"
#include "server/broker/schedule/scheduler.cc"
#include "server/broker/schedule/scheduler_lane.cc"
#include "server/broker/schedule/scheduler_lease.cc"
#include "server/broker/schedule/statement.cc"
