// Pages of lists whose items belong to queues: without those that the caller may not see.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "server/base/status_macros.h"
#include "server/broker/api/permit.h"
#include "server/model/report.h"

namespace skiplane::broker {

// Of items that may have to be left out, however few the caller wants: so that 100,000 queues, the
// most that there are, are looked through by some hundred statements.
inline constexpr int kItemsPerStep = 1000;

// `read` reads so many items behind one, or the first ones of the call if it gets none; `queue_of`
// names the queue of an item. Where there is nothing to show it reads on, since the token of the
// next page is made of the last item, and must not tell one that is hidden.
template <typename Item, typename Read, typename QueueOf>
absl::StatusOr<model::Page<Item>> ReadVisible(const Permit& permit, int limit, Read read,
                                              QueueOf queue_of) {
  if (permit == nullptr) return read(nullptr, limit);
  std::optional<Item> last;
  for (;;) {
    ASSIGN_OR_RETURN(model::Page<Item> page, read(last.has_value() ? &*last : nullptr,
                                                  std::max(limit, kItemsPerStep)));
    if (page.items.empty()) return page;
    Item end = page.items.back();
    std::erase_if(page.items, [&](const Item& item) { return !permit(queue_of(item)).ok(); });
    if (page.items.size() > static_cast<size_t>(limit)) {
      page.items.resize(static_cast<size_t>(limit));
      page.has_more = true;
    }
    if (!page.items.empty() || !page.has_more) return page;
    last = std::move(end);
  }
}

}  // namespace skiplane::broker
