// A run-time statement: its name (prepared statement, metric label) and its text.
#pragma once
namespace skiplane::sql {

struct Query {
  const char* name;
  const char* text;
};

}  // namespace skiplane::sql
