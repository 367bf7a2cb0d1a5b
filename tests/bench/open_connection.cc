#include "tests/bench/open_connection.h"

#include <libpq-fe.h>

#include "absl/strings/str_cat.h"
#include "tests/support/require.h"

namespace skiplane::bench {

OpenConnection::OpenConnection(const BrokerRun& broker)
    : connection_(PQconnectdb(broker.uri().c_str()), &PQfinish) {}

std::string OpenConnection::Run(const std::string& text) {
  const auto result = Execute(text);
  return PQntuples(result.get()) == 0 ? "" : PQgetvalue(result.get(), 0, 0);
}

std::vector<std::string> OpenConnection::Column(const std::string& text) {
  const auto result = Execute(text);
  std::vector<std::string> values;
  for (int row = 0; row < PQntuples(result.get()); ++row) {
    values.emplace_back(PQgetvalue(result.get(), row, 0));
  }
  return values;
}

std::unique_ptr<pg_result, void (*)(pg_result*)> OpenConnection::Execute(const std::string& text) {
  std::unique_ptr<pg_result, void (*)(pg_result*)> result(
      PQexec(connection_.get(), text.c_str()), &PQclear);
  const ExecStatusType status = PQresultStatus(result.get());
  testing::Require(status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK,
                   absl::StrCat(text, ": ", PQerrorMessage(connection_.get())));
  return result;
}

}  // namespace skiplane::bench
