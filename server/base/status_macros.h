// Two macros that return an error to the caller. Nothing else in the code base hides control flow.
#pragma once

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#define SKIPLANE_CONCAT_INNER(a, b) a##b
#define SKIPLANE_CONCAT(a, b) SKIPLANE_CONCAT_INNER(a, b)

// Returns from the function if `expression`, an absl::Status, is not OK.
#define RETURN_IF_ERROR(expression)                     \
  do {                                                  \
    absl::Status skiplane_status = (expression);        \
    if (!skiplane_status.ok()) return skiplane_status;  \
  } while (false)

// ASSIGN_OR_RETURN(auto value, expression): unwraps an absl::StatusOr or returns its status.
#define ASSIGN_OR_RETURN(declaration, expression) \
  SKIPLANE_ASSIGN_OR_RETURN(SKIPLANE_CONCAT(skiplane_result_, __LINE__), declaration, expression)
#define SKIPLANE_ASSIGN_OR_RETURN(result, declaration, expression) \
  auto result = (expression);                                      \
  if (!result.ok()) return std::move(result).status();             \
  declaration = std::move(result).value()
