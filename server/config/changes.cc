#include "server/config/changes.h"

#include <utility>

namespace skiplane::config {
namespace {

class Changes {
 public:
  Changes(const Config& running, const Config& read) : running_(running), read_(read) {}

  template <typename Value>
  void Compare(Value Config::*setting, const char* flag) {
    if (running_.*setting != read_.*setting) flags_.emplace_back(flag);
  }

  std::vector<std::string> Take() { return std::move(flags_); }

 private:
  const Config& running_;
  const Config& read_;
  std::vector<std::string> flags_;
};

void CompareLimits(Changes& changes) {
  changes.Compare(&Config::max_connections, "max-connections");
  changes.Compare(&Config::max_waiting_calls, "max-waiting-calls");
  changes.Compare(&Config::max_waiting_calls_per_connection, "max-waiting-calls-per-connection");
  changes.Compare(&Config::max_new_queues_per_minute, "max-new-queues-per-minute");
  changes.Compare(&Config::principal_share, "principal-share");
  changes.Compare(&Config::address_share, "address-share");
  changes.Compare(&Config::drain_timeout, "drain-timeout");
}

}  // namespace

std::vector<std::string> OtherChanges(const Config& running, Config read) {
  read.log_level = running.log_level;
  read.tls = running.tls;
  read.access = running.access;
  Changes changes(running, read);
  changes.Compare(&Config::listen, "listen");
  changes.Compare(&Config::metrics_listen, "metrics-listen");
  changes.Compare(&Config::http_listen, "http-listen");
  changes.Compare(&Config::http_hosts, "http-host");
  changes.Compare(&Config::http_origins, "http-origin");
  changes.Compare(&Config::dashboard, "dashboard");
  changes.Compare(&Config::metrics_queues, "metrics-queue");
  changes.Compare(&Config::database_uri, "database");
  changes.Compare(&Config::database_file, "database-file");
  changes.Compare(&Config::embedded_dir, "embedded");
  changes.Compare(&Config::pg_bindir, "pg-bindir");
  changes.Compare(&Config::database_connections, "database-connections");
  changes.Compare(&Config::auto_create_queues, "auto-create-queues");
  changes.Compare(&Config::hands_off, "no-hand-off");
  changes.Compare(&Config::allow_unsafe_durability, "allow-unsafe-durability");
  changes.Compare(&Config::migrate_at_start, "no-migrate");
  changes.Compare(&Config::reflection, "reflection");
  CompareLimits(changes);
  changes.Compare(&Config::log_format, "log-format");
  changes.Compare(&Config::ready_file, "ready-file");
  std::vector<std::string> flags = changes.Take();
  if (flags.empty() && read != running) flags.emplace_back("others");
  return flags;
}

}  // namespace skiplane::config
