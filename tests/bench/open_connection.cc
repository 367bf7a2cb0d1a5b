#include "tests/bench/open_connection.h"

#include <libpq-fe.h>

#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/support/require.h"

namespace skiplane::bench {

OpenConnection::OpenConnection(const BrokerRun& broker)
    : connection_(PQconnectdb(broker.uri().c_str()), &PQfinish) {}

std::string OpenConnection::Run(const std::string& text) {
  const auto result = Execute(text);
  return PQntuples(result.get()) == 0 ? "" : PQgetvalue(result.get(), 0, 0);
}

void OpenConnection::Prepare(const std::string& name, const std::string& text) {
  Check(PQprepare(connection_.get(), name.c_str(), text.c_str(), 0, nullptr), text);
}

std::unique_ptr<pg_result, void (*)(pg_result*)> OpenConnection::RunPrepared(
    const std::string& name, const pg::Params& params) {
  std::vector<const char*> values;
  std::vector<int> lengths;
  for (const std::string& value : params.values()) {
    values.push_back(value.data());
    lengths.push_back(static_cast<int>(value.size()));
  }
  const std::vector<int> formats(values.size(), 1);  // binary
  return Check(PQexecPrepared(connection_.get(), name.c_str(), static_cast<int>(values.size()),
                              values.data(), lengths.data(), formats.data(), 1),
               name);
}

std::unique_ptr<pg_result, void (*)(pg_result*)> OpenConnection::Execute(const std::string& text) {
  return Check(PQexec(connection_.get(), text.c_str()), text);
}

std::unique_ptr<pg_result, void (*)(pg_result*)> OpenConnection::Check(pg_result* result,
                                                                       const std::string& what) {
  std::unique_ptr<pg_result, void (*)(pg_result*)> checked(result, &PQclear);
  const ExecStatusType status = PQresultStatus(result);
  testing::Require(status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK,
                   absl::StrCat(what, ": ", PQerrorMessage(connection_.get())));
  return checked;
}

}  // namespace skiplane::bench
