#include "client/cli/command/show.h"

#include <optional>

namespace skiplane::cli {

Listing::Listing(Session& session, Columns columns, std::optional<Order> order)
    : session_(session), table_(std::move(columns), std::move(order)) {}

absl::StatusOr<Listing> Listing::AsAsked(Session& session, const Columns& columns) {
  const GlobalOptions& options = session.options();
  std::optional<Order> order;
  if (!options.sort.empty()) {
    absl::StatusOr<Order> parsed = ParseOrder(columns, options.sort);
    if (!parsed.ok()) return parsed.status();
    order = *std::move(parsed);
  }
  if (options.columns.empty()) return Listing(session, columns, std::move(order));
  absl::StatusOr<Columns> chosen = ChooseColumns(columns, options.columns);
  if (!chosen.ok()) return chosen.status();
  return Listing(session, *std::move(chosen), std::move(order));
}

void Listing::Add(const google::protobuf::Message& message) {
  if (session_.json()) {
    session_.out() << ToJson(message) << "\n";
  } else {
    table_.Add(message);
  }
}

void Listing::End() {
  if (!session_.json()) {
    session_.out() << table_.Sorted().Render(static_cast<size_t>(TerminalWidth()),
                                             session_.options().is_colored);
  }
}

void ShowOne(Session& session, const google::protobuf::Message& message) {
  if (session.json()) {
    session.out() << ToJson(message) << "\n";
  } else {
    session.out() << Facts(message).Render(static_cast<size_t>(TerminalWidth()),
                                           session.options().is_colored);
  }
}

}  // namespace skiplane::cli
