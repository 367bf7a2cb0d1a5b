// Where a Lease wants tasks from, in the order in which its lanes are asked. Random where the
// caller leaves it open.
#pragma once

#include <cstdint>
#include <vector>

#include "server/broker/api/calls.h"
#include "server/broker/schedule/ticket.h"

namespace skiplane::broker {

// Queues as listed, or drawn by weight; lanes from a random one on, so that no lane is always the
// last to be asked; of a queue without a stage every stage, later ones first. Each lane stage once.
// `queues` are those of the call, in its order.
std::vector<Ticket::Wanted> WantedOf(const LeaseCall& call, const std::vector<QueuePtr>& queues);

// How many lane stages those are, or would be; the stages that the call names are there.
int64_t CountLaneStages(const LeaseCall& call, const std::vector<QueuePtr>& queues);

// How many tasks to take from each queue of the call; empty: no queue has a limit of its own.
std::vector<int64_t> MostOf(const LeaseCall& call);

}  // namespace skiplane::broker
