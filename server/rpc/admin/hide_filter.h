// What a filter asks for tells of the tasks that it matched: who may not read headers or keys sees
// neither in the filters of others.
#pragma once

#include <utility>

#include "absl/status/statusor.h"
#include "server/access/rules.h"
#include "server/broker/api/calls.h"
#include "server/broker/api/report_calls.h"
#include "server/model/report.h"
#include "server/rpc/call/call.h"

namespace skiplane::rpc {

// Empties the values of headers without `read_payload` on the filter's queue, and the start of keys
// without `read`.
void HideFilter(const access::Grants& grants, model::BulkOperation* operation);
// The same in what a record says that was asked for, and where a copy or a move went without `read`
// on that queue.
void HideFilter(const access::Grants& grants, model::AuditRecord* record);

template <typename Item>
void HideFilter(const access::Grants& grants, model::Page<Item>* page) {
  for (Item& item : page->items) HideFilter(grants, &item);
}

inline void HideFilter(const access::Grants& grants, broker::AuditPage* page) {
  HideFilter(grants, &page->records);
}

// Replies as `reply` does, with what the call's principal may see.
template <typename Answer>
broker::Callback<Answer> WithHiddenFilters(UnaryCall* call, broker::Callback<Answer> reply) {
  return [call, reply = std::move(reply)](absl::StatusOr<Answer> answer) mutable {
    if (answer.ok()) HideFilter(call->grants(), &*answer);
    reply(std::move(answer));
  };
}

}  // namespace skiplane::rpc
