// A connection to the database that is measured, which stays open. Failures end the program.
// Not thread-safe.
#pragma once

#include <memory>
#include <string>

#include "server/pg/params.h"
#include "tests/bench/broker_run.h"

struct pg_conn;
struct pg_result;

namespace skiplane::bench {

class OpenConnection {
 public:
  explicit OpenConnection(const BrokerRun& broker);

  // The first column of the first row of the last result, or "".
  std::string Run(const std::string& text);
  // For RunPrepared.
  void Prepare(const std::string& name, const std::string& text);
  // The rows are in PostgreSQL's binary format.
  std::unique_ptr<pg_result, void (*)(pg_result*)> RunPrepared(const std::string& name,
                                                               const pg::Params& params);

 private:
  std::unique_ptr<pg_result, void (*)(pg_result*)> Execute(const std::string& text);
  std::unique_ptr<pg_result, void (*)(pg_result*)> Check(pg_result* result,
                                                         const std::string& what);

  std::unique_ptr<pg_conn, void (*)(pg_conn*)> connection_;
};

}  // namespace skiplane::bench
