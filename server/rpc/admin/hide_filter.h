// What a filter asks for tells of the tasks that it matched: who may not read headers or keys sees
// neither in the filters of others.
#pragma once

#include "server/access/rules.h"
#include "server/model/report.h"

namespace skiplane::rpc {

// Empties the values of headers without `read_payload` on the filter's queue, and the start of keys
// without `read`.
void HideFilter(const access::Grants& grants, model::TaskFilter* filter);

// The same in what a record says that was asked for.
void HideFilter(const access::Grants& grants, model::AuditRecord* record);

}  // namespace skiplane::rpc
