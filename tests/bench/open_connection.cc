#include "tests/bench/open_connection.h"

#include <libpq-fe.h>

#include "absl/strings/str_cat.h"
#include "tests/support/require.h"

namespace skiplane::bench {

OpenConnection::OpenConnection(const BrokerRun& broker)
    : connection_(PQconnectdb(broker.uri().c_str()), &PQfinish) {}

std::string OpenConnection::Run(const std::string& text) {
  const std::unique_ptr<PGresult, void (*)(PGresult*)> result(
      PQexec(connection_.get(), text.c_str()), &PQclear);
  const ExecStatusType status = PQresultStatus(result.get());
  testing::Require(status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK,
                   absl::StrCat(text, ": ", PQerrorMessage(connection_.get())));
  return PQntuples(result.get()) == 0 ? "" : PQgetvalue(result.get(), 0, 0);
}

}  // namespace skiplane::bench
