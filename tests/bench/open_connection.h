// A connection to the database that is measured, which stays open. Failures end the program.
// Not thread-safe.
#pragma once

#include <memory>
#include <string>

#include "tests/bench/broker_run.h"

struct pg_conn;

namespace skiplane::bench {

class OpenConnection {
 public:
  explicit OpenConnection(const BrokerRun& broker);

  // The first column of the first row of the last result, or "".
  std::string Run(const std::string& text);

 private:
  std::unique_ptr<pg_conn, void (*)(pg_conn*)> connection_;
};

}  // namespace skiplane::bench
