// A connection to the database that is measured, which stays open. Failures end the program.
// Not thread-safe.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/bench/broker_run.h"

struct pg_conn;
struct pg_result;

namespace skiplane::bench {

class OpenConnection {
 public:
  explicit OpenConnection(const BrokerRun& broker);

  // The first column of the first row of the last result, or "".
  std::string Run(const std::string& text);
  // The first column of all rows.
  std::vector<std::string> Column(const std::string& text);

 private:
  std::unique_ptr<pg_result, void (*)(pg_result*)> Execute(const std::string& text);

  std::unique_ptr<pg_conn, void (*)(pg_conn*)> connection_;
};

}  // namespace skiplane::bench
