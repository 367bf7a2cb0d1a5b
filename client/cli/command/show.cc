#include "client/cli/command/show.h"

#include <optional>

namespace skiplane::cli {

Listing::Listing(Session& session, Columns columns)
    : session_(session), table_(std::move(columns), std::nullopt) {}

void Listing::Add(const google::protobuf::Message& message) {
  if (session_.json()) {
    session_.out() << ToJson(message) << "\n";
  } else {
    table_.Add(message);
  }
}

void Listing::End() {
  if (!session_.json()) {
    session_.out() << table_.Sorted().Render(static_cast<size_t>(TerminalWidth()));
  }
}

void ShowOne(Session& session, const google::protobuf::Message& message) {
  if (session.json()) {
    session.out() << ToJson(message) << "\n";
  } else {
    session.out() << Facts(message).Render(static_cast<size_t>(TerminalWidth()));
  }
}

}  // namespace skiplane::cli
