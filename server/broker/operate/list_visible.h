// Pages of lists whose items belong to queues: without those that the caller may not see.
#pragma once

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "server/base/status_macros.h"
#include "server/broker/api/permit.h"
#include "server/model/report.h"

namespace skiplane::broker {

// `read` reads the page behind an item, or the first one of the call if it gets none; `queue_of`
// names the queue of an item. A page that has nothing to show is read on, since the token of the
// next one is made of the last item, and must not tell one that is hidden.
template <typename Item, typename Read, typename QueueOf>
absl::StatusOr<model::Page<Item>> ReadVisible(const Permit& permit, Read read, QueueOf queue_of) {
  std::optional<Item> last;
  for (;;) {
    ASSIGN_OR_RETURN(model::Page<Item> page, read(last.has_value() ? &*last : nullptr));
    if (permit == nullptr || page.items.empty()) return page;
    Item end = page.items.back();
    std::erase_if(page.items, [&](const Item& item) { return !permit(queue_of(item)).ok(); });
    if (!page.items.empty() || !page.has_more) return page;
    last = std::move(end);
  }
}

}  // namespace skiplane::broker
