// The files of the dashboard, which are in the program itself.
#pragma once

#include <vector>

#include "absl/strings/string_view.h"

namespace skiplane::http::dashboard {

struct File {
  absl::string_view name;     // "dashboard.js"
  absl::string_view version;  // differs where the text does
  absl::string_view text;
};

// index.html, which is the page, and what it loads.
const std::vector<File>& Files();

}  // namespace skiplane::http::dashboard
