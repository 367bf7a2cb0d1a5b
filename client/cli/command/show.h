// Messages of the API as tables for people, or as lines of JSON.
#pragma once

#include <google/protobuf/message.h>

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client/cli/base/session.h"
#include "client/cli/base/terminal.h"
#include "client/cli/text/columns.h"
#include "client/cli/text/field.h"
#include "client/cli/text/table.h"

namespace skiplane::cli {

// Collects rows for people, or prints each message at once for programs.
class Listing {
 public:
  Listing(Session& session, Columns columns, std::optional<Order> order = std::nullopt);

  // With the columns and in the order of --columns and --sort, which the command must have
  // (table_options.h).
  static absl::StatusOr<Listing> AsAsked(Session& session, const Columns& columns);

  void Add(const google::protobuf::Message& message);

  // Prints the table.
  void End();

 private:
  Session& session_;
  FieldTable table_;
};

// One message: its fields, or itself as JSON.
void ShowOne(Session& session, const google::protobuf::Message& message);

// The most that is asked for at a time.
inline constexpr int64_t kPageSize = 1000;

// Calls `method` for page after page and `add` for each item, up to `limit` of them; 0 is all.
// `items` takes the list out of a response. Says on standard error that there is more.
template <typename Request, typename Response, typename Items, typename Add>
absl::Status ForEach(Session& session, Request request,
                     internal::AsyncMethod<internal::AdminMethods, Request, Response> method,
                     Items items, Add add, int64_t limit) {
  int64_t count = 0;
  do {
    const int64_t wanted = limit == 0 ? kPageSize : std::min(kPageSize, limit - count);
    request.set_page_size(static_cast<int32_t>(wanted));
    const absl::StatusOr<Response> page =
        session.Call<Request, Response>(request, method);
    if (!page.ok()) return page.status();
    for (const auto& item : items(*page)) {
      add(item);
      ++count;
    }
    request.set_page_token(page->next_page_token());
  } while (!request.page_token().empty() && (limit == 0 || count < limit));
  if (!request.page_token().empty() && !session.json()) {
    std::cerr << "There is more: --limit 0 shows all"
              << (session.options().sort.empty() ? "" : ", and sorts all") << ".\n";
  }
  return absl::OkStatus();
}

// The same, shown as a list.
template <typename Request, typename Response, typename Items>
absl::Status ShowPages(Session& session, Request request,
                       internal::AsyncMethod<internal::AdminMethods, Request, Response> method,
                       Items items, const Columns& columns, int64_t limit) {
  absl::StatusOr<Listing> listing = Listing::AsAsked(session, columns);
  if (!listing.ok()) return listing.status();
  const absl::Status status = ForEach(
      session, std::move(request), method, items,
      [&](const google::protobuf::Message& item) { listing->Add(item); }, limit);
  if (status.ok()) listing->End();
  return status;
}

}  // namespace skiplane::cli
