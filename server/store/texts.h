// Values as parameters and answers have them.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "server/model/task.h"

namespace skiplane::store {

// An empty text is null in the database.
std::optional<absl::string_view> IfAny(absl::string_view text);

// The numbers of "{1,2,3}", PostgreSQL's text of an array.
std::vector<int64_t> NumbersOf(absl::string_view array);

// Headers of a task as the JSON object that their column holds.
std::string HeadersToJson(const model::Headers& headers);

// A column of headers: null where a task has none. Its views point into it.
struct HeadersColumn {
  std::deque<std::string> texts;
  std::vector<std::optional<absl::string_view>> views;

  void Add(const model::Headers& headers);
};

// Members that are not strings are left out: nobody but a stranger's SQL can have written them.
model::Headers HeadersFromJson(absl::string_view json);

// The members of a JSON array, null standing for none; nothing of an empty text.
std::vector<std::string> TextsFromJson(absl::string_view json);
std::vector<model::Headers> HeadersOfEach(absl::string_view json);

}  // namespace skiplane::store
