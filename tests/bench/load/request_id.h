// Request ids as the client libraries make them: 32 hexadecimal digits. Thread-safe.
#pragma once

#include <string>

namespace skiplane::bench {

std::string NewRequestId();

}  // namespace skiplane::bench
