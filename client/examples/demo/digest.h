// The work of the demonstration: the SHA-256 and the number of words of one file.
#pragma once

#include <cstdint>
#include <string>

namespace skiplane::demo {

struct Digest {
  std::string sha256;  // hexadecimal; empty if the file could not be read to its end
  int64_t words = 0;
  int64_t bytes = 0;
};

Digest DigestFile(const std::string& path);

}  // namespace skiplane::demo
