// The regular files below some folders. Links are not followed; folders that may not be read are
// left out.
#pragma once

#include <string>
#include <vector>

namespace skiplane::demo {

// Each path once, in the order of its name.
std::vector<std::string> ListFiles(const std::vector<std::string>& roots);

}  // namespace skiplane::demo
