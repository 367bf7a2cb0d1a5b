#include "client/cli/command/show.h"

namespace skiplane::cli {
namespace {

std::vector<std::string> Titles(const Columns& columns) {
  std::vector<std::string> titles;
  for (const auto& [title, path] : columns) titles.push_back(title);
  return titles;
}

}  // namespace

Listing::Listing(Session& session, Columns columns)
    : session_(session), columns_(std::move(columns)), table_(Titles(columns_)) {}

void Listing::Add(const google::protobuf::Message& message) {
  if (session_.json()) {
    session_.out() << ToJson(message) << "\n";
    return;
  }
  std::vector<std::string> row;
  for (const auto& [title, path] : columns_) row.push_back(FieldText(message, path));
  table_.Add(std::move(row));
}

void Listing::End() {
  if (!session_.json()) {
    session_.out() << table_.Render(static_cast<size_t>(TerminalWidth()));
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
