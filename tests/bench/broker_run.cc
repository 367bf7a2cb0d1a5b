#include "tests/bench/broker_run.h"

#include <libpq-fe.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tests/support/require.h"

namespace skiplane::bench {
namespace {

using testing::Require;

// The first start makes the cluster.
constexpr absl::Duration kStartAtMost = absl::Minutes(2);

std::vector<std::string> ReadLines(const std::string& path) {
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  return absl::StrSplit(text, '\n');
}

// The value of the line "name=value".
std::string ValueOf(const std::vector<std::string>& lines, absl::string_view name) {
  for (const std::string& line : lines) {
    const std::vector<std::string> parts = absl::StrSplit(line, absl::MaxSplits('=', 1));
    if (parts.size() == 2 && parts[0] == name) return parts[1];
  }
  return "";
}

std::string MakeFolder(const std::string& broker, const std::string& directory) {
  Require(std::filesystem::exists(broker), absl::StrCat("there is no program ", broker));
  std::string folder = directory + "/skiplane-bench.XXXXXX";
  Require(mkdtemp(folder.data()) != nullptr, absl::StrCat("cannot make ", folder));
  // A root caller's PostgreSQL runs under another account.
  chmod(folder.c_str(), 0755);
  return folder;
}

}  // namespace

BrokerRun::BrokerRun(const std::string& broker, const std::string& directory)
    : folder_(MakeFolder(broker, directory)) {
  const std::string ready = folder_ + "/ready";
  app::ChildOptions child;
  // The child runs in another folder.
  const std::string program = std::filesystem::absolute(broker).string();
  child.argv = {program, "--embedded", folder_ + "/data", "--listen", "127.0.0.1:0",
                "--metrics-listen", "off", "--ready-file", ready, "--log-level", "warn"};
  child.death_signal = SIGTERM;
  process_ = std::make_unique<testing::Process>(child);
  Require(process_->WaitForFile(ready, kStartAtMost),
          absl::StrCat("the broker did not start: ", process_->output()));
  address_ = ValueOf(ReadLines(ready), "listen");
  Require(!address_.empty(), "the broker did not say its address");
  // Its lines are: process id, data folder, start time, port, socket folder, ...
  const std::vector<std::string> lines = ReadLines(folder_ + "/data/pgdata/postmaster.pid");
  Require(lines.size() > 4 && absl::SimpleAtoi(lines[0], &postmaster_),
          "postmaster.pid is not as expected");
  socket_folder_ = lines[4];
}

BrokerRun::~BrokerRun() {
  process_->Signal(SIGTERM);
  process_->Wait();
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

int64_t BrokerRun::WalBytes() const {
  const std::string conninfo =
      absl::StrCat("host='", socket_folder_, "' user=skiplane dbname=skiplane");
  const std::unique_ptr<PGconn, void (*)(PGconn*)> connection(PQconnectdb(conninfo.c_str()),
                                                              &PQfinish);
  const std::unique_ptr<PGresult, void (*)(PGresult*)> result(
      PQexec(connection.get(), "select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::int8"),
      &PQclear);
  int64_t bytes = 0;
  Require(PQntuples(result.get()) == 1 &&
              absl::SimpleAtoi(PQgetvalue(result.get(), 0, 0), &bytes),
          PQerrorMessage(connection.get()));
  return bytes;
}

}  // namespace skiplane::bench
