// Headers of a task as the JSON object that their column holds.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "server/model/task.h"

namespace skiplane::store {

std::string HeadersToJson(const model::Headers& headers);

// Members that are not strings are left out: nobody but a stranger's SQL can have written them.
model::Headers HeadersFromJson(absl::string_view json);

}  // namespace skiplane::store
