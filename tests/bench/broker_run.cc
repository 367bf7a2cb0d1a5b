#include "tests/bench/broker_run.h"

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
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "tests/bench/open_connection.h"
#include "tests/support/require.h"

namespace skiplane::bench {
namespace {

using testing::Require;

// The first start makes the cluster.
constexpr absl::Duration kStartAtMost = absl::Minutes(2);

// As many as the embedded PostgreSQL keeps (min_wal_size).
constexpr int kWalFiles = 32;

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

BrokerRun::BrokerRun(const std::string& broker, const std::string& directory, bool is_secured)
    : broker_(std::filesystem::absolute(broker).string()), folder_(MakeFolder(broker, directory)) {
  if (is_secured) secured_ = std::make_unique<Secured>(folder_);
  StartFirst();
  for (const char* name : {"fsync", "synchronous_commit", "full_page_writes"}) {
    Require(Sql(absl::StrCat("SHOW ", name)) == "on", absl::StrCat(name, " is off"));
  }
  FillWalFolder();
}

BrokerRun::~BrokerRun() {
  // The first holds PostgreSQL: it goes last.
  for (; !processes_.empty(); processes_.pop_back()) {
    processes_.back()->Signal(SIGTERM);
    processes_.back()->Wait();
  }
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

void BrokerRun::StartFirst() {
  addresses_.push_back(Start({"--embedded", folder_ + "/data"}));
  // Its lines are: process id, data folder, start time, port, socket folder, ...
  const std::vector<std::string> lines = ReadLines(folder_ + "/data/pgdata/postmaster.pid");
  Require(lines.size() > 4 && absl::SimpleAtoi(lines[0], &postmaster_),
          "postmaster.pid is not as expected");
  socket_folder_ = lines[4];
}

void BrokerRun::Restart() {
  Require(processes_.size() == 1, "there are other brokers");
  processes_.back()->Signal(SIGTERM);
  processes_.back()->Wait();
  processes_.clear();
  addresses_.clear();
  std::filesystem::remove(absl::StrCat(folder_, "/ready0"));
  StartFirst();
}

void BrokerRun::UseOwnAutovacuum() {
  for (const char* setting :
       {"autovacuum_naptime", "autovacuum_vacuum_cost_delay", "autovacuum_vacuum_scale_factor",
        "autovacuum_analyze_scale_factor", "autovacuum_analyze_threshold"}) {
    const std::string value = Sql(absl::StrCat(
        "SELECT quote_literal(boot_val) FROM pg_settings WHERE name = '", setting, "'"));
    Sql(absl::StrCat("ALTER SYSTEM SET ", setting, " = ", value));
  }
  Sql("SELECT pg_reload_conf()");
}

void BrokerRun::Pause() {
  for (const auto& process : processes_) process->Signal(SIGSTOP);
}

void BrokerRun::Resume() {
  for (const auto& process : processes_) process->Signal(SIGCONT);
}

std::string BrokerRun::Start(std::vector<std::string> flags) {
  const std::string ready = absl::StrCat(folder_, "/ready", processes_.size());
  app::ChildOptions child;
  child.argv = {broker_,       "--listen",     "127.0.0.1:0", "--metrics-listen",
                "127.0.0.1:0", "--http-listen", "127.0.0.1:0", "--ready-file",
                ready,         "--log-level",  "warn"};
  child.argv.insert(child.argv.end(), flags.begin(), flags.end());
  if (secured_ != nullptr) {
    child.argv.insert(child.argv.end(), secured_->flags().begin(), secured_->flags().end());
  }
  child.death_signal = SIGTERM;
  processes_.push_back(std::make_unique<testing::Process>(child));
  Require(processes_.back()->WaitForFile(ready, kStartAtMost),
          absl::StrCat("the broker did not start: ", processes_.back()->output()));
  std::string address = ValueOf(ReadLines(ready), "listen");
  Require(!address.empty(), "the broker did not say its address");
  return address;
}

std::shared_ptr<grpc::ChannelCredentials> BrokerRun::credentials() const {
  return secured_ == nullptr ? grpc::InsecureChannelCredentials() : secured_->credentials();
}

void BrokerRun::AddBroker() { addresses_.push_back(Start({"--database", uri()})); }

// A young cluster fills each new WAL file with zeros before it uses it: a ninth of the backends'
// CPU, which nobody pays after the first gigabytes, when old files are used again.
void BrokerRun::FillWalFolder() const {
  for (int file = 0; file < kWalFiles; ++file) {
    Sql("SELECT pg_logical_emit_message(false, 'bench', 'x'); SELECT pg_switch_wal()");
  }
  Sql("CHECKPOINT");
}

std::vector<pid_t> BrokerRun::pids() const {
  std::vector<pid_t> pids;
  for (const auto& process : processes_) pids.push_back(process->pid());
  return pids;
}

std::string BrokerRun::uri() const {
  return absl::StrCat("postgresql://skiplane@/skiplane?host=",
                      absl::StrReplaceAll(socket_folder_, {{"/", "%2F"}}));
}

std::string BrokerRun::Sql(const std::string& text) const {
  return OpenConnection(*this).Run(text);
}

int64_t BrokerRun::SqlNumber(const std::string& text) const {
  int64_t number = 0;
  Require(absl::SimpleAtoi(Sql(text), &number), absl::StrCat("no number: ", text));
  return number;
}

int64_t BrokerRun::WalBytes() const {
  return SqlNumber("SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::int8");
}

}  // namespace skiplane::bench
