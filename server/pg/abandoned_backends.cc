#include "server/pg/abandoned_backends.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "server/pg/refusals.h"

namespace skiplane::pg {
namespace {

constexpr size_t kMost = 1000;  // where the server does not tell which are gone

// A role sees what its own backends wait for: the one that logged in, also where another is set.
std::string Question(const std::vector<Backend>& backends) {
  const std::string pids = absl::StrJoin(backends, ",", [](std::string* out, const Backend& each) {
    absl::StrAppend(out, each.pid);
  });
  return absl::StrCat(
      "SET LOCAL ROLE NONE; "
      "SELECT a.pid, coalesce((date_part('epoch', a.backend_start) * 1e6)::int8, 0), "
      "coalesce(a.wait_event = 'SyncRep', false) "
      "FROM pg_catalog.pg_stat_activity a WHERE a.pid IN (", pids, ")");
}

}  // namespace

void AbandonedBackends::Add(const Backend& backend) {
  base::MutexLock lock(mutex_);
  if (backends_.size() >= kMost) backends_.erase(backends_.begin());
  backends_.push_back(backend);
}

absl::Status AbandonedBackends::Check(pqxx::connection& connection) {
  std::vector<Backend> asked;
  {
    base::MutexLock lock(mutex_);
    asked = backends_;
  }
  if (asked.empty()) return absl::OkStatus();
  pqxx::nontransaction work(connection);
  std::vector<Backend> left;
  int64_t waiting = 0;
  for (const pqxx::row& row : work.exec(Question(asked))) {
    const int pid = row[0].as<int>();
    const auto start = row[1].as<int64_t>();
    const auto same = std::find_if(asked.begin(), asked.end(), [&](const Backend& each) {
      return each.pid == pid && start <= each.seen_time;
    });
    if (same == asked.end()) continue;
    left.push_back(*same);
    if (row[2].as<bool>()) ++waiting;
  }
  {
    base::MutexLock lock(mutex_);
    const auto is_gone = [&](const Backend& each) {
      return std::find(asked.begin(), asked.end(), each) != asked.end() &&
             std::find(left.begin(), left.end(), each) == left.end();
    };
    backends_.erase(std::remove_if(backends_.begin(), backends_.end(), is_gone), backends_.end());
  }
  return waiting == 0 ? absl::OkStatus() : StandbyAway(waiting);
}

}  // namespace skiplane::pg
