// Queues on their way to the wire. Pure functions.
#pragma once

#include <string>

#include "server/broker/api/calls.h"
#include "server/broker/api/report_calls.h"
#include "server/model/queue.h"
#include "skiplane/v1/admin.pb.h"

namespace skiplane::rpc {

// The etag of a queue is its version.
std::string WriteEtag(int64_t version);

// -1, which no queue has, if `etag` is not the result of WriteEtag.
int64_t ReadEtag(const std::string& etag);

// Without counts.
void WriteQueue(const model::Queue& queue, v1::Queue* wire);

void WriteSummary(const broker::QueueSummary& summary, v1::QueueSummary* wire);

void WriteGetQueue(broker::QueueWithCounts* answer, v1::GetQueueResponse* response);

// For every response that is just the queue as it is now.
template <typename Response>
void WriteChangedQueue(model::Queue* queue, Response* response) {
  WriteQueue(*queue, response->mutable_queue());
}

}  // namespace skiplane::rpc
