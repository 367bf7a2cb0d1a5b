// A handler's run, as Worker says: what it throws is a failure.
#pragma once

#include <exception>

#include "skiplane/result.h"

namespace skiplane::internal {

inline Result RunHandler(const Handler& handler, const LeasedTask& task, Attempt& attempt) {
  try {
    return handler(task, attempt);
  } catch (const std::exception& error) {
    return Result::Retry({.type = "Exception", .text = error.what()});
  } catch (...) {
    return Result::Retry({.type = "Exception", .text = "not derived from std::exception"});
  }
}

}  // namespace skiplane::internal
