#include "tests/support/database.h"

#include <libpq-fe.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tests/support/require.h"

namespace skiplane::testing {
namespace {

// Unlike any other name in a cluster that several test programs share.
std::string FreshName() {
  static std::atomic<int> count = 0;
  static const uint64_t run = (uint64_t{std::random_device{}()} << 32) | std::random_device{}();
  return absl::StrCat("t_", absl::Hex(run), "_", ++count);
}

}  // namespace

std::string RunSql(const std::string& uri, const std::string& sql) {
  const std::unique_ptr<PGconn, decltype(&PQfinish)> connection(PQconnectdb(uri.c_str()), PQfinish);
  Require(PQstatus(connection.get()) == CONNECTION_OK, PQerrorMessage(connection.get()));
  PQsetNoticeProcessor(connection.get(), [](void*, const char*) {}, nullptr);
  const std::unique_ptr<PGresult, decltype(&PQclear)> result(
      PQexec(connection.get(), sql.c_str()), PQclear);
  const ExecStatusType status = PQresultStatus(result.get());
  Require(status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK || status == PGRES_EMPTY_QUERY,
          absl::StrCat(sql, ": ", PQresultErrorMessage(result.get())));
  if (PQntuples(result.get()) == 0 || PQnfields(result.get()) == 0) return "";
  return PQgetvalue(result.get(), 0, 0);
}

Database::Database(Cluster& cluster) : Database(cluster, "template0") {}

Database::Database(Cluster& cluster, absl::string_view template_name)
    : cluster_(&cluster), name_(FreshName()) {
  RunSql(cluster.uri("postgres"),
         absl::StrCat("CREATE DATABASE ", name_, " TEMPLATE ", template_name));
}

Database::Database(Database&& other) noexcept
    : cluster_(other.cluster_), name_(std::exchange(other.name_, "")) {}

Database::~Database() {
  if (name_.empty()) return;
  RunSql(cluster_->uri("postgres"),
         absl::StrCat("DROP DATABASE IF EXISTS ", name_, " WITH (FORCE)"));
}

std::string Database::Run(const std::string& sql) const { return RunSql(uri(), sql); }

}  // namespace skiplane::testing
