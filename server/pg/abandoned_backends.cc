#include "server/pg/abandoned_backends.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "server/pg/refusals.h"

namespace skiplane::pg {
namespace {

// A role sees what its own backends wait for.
std::string Question(const std::vector<Backend>& backends) {
  const std::string pids = absl::StrJoin(backends, ",", [](std::string* out, const Backend& each) {
    absl::StrAppend(out, each.pid);
  });
  return absl::StrCat(
      "SELECT a.pid, a.backend_start::text, coalesce(a.wait_event = 'SyncRep', false) "
      "FROM pg_catalog.pg_stat_activity a WHERE a.pid IN (", pids, ")");
}

}  // namespace

void AbandonedBackends::Add(const Backend& backend) {
  base::MutexLock lock(mutex_);
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
    const Backend backend{row[0].as<int>(), row[1].as<std::string>("")};
    if (std::find(asked.begin(), asked.end(), backend) == asked.end()) continue;
    left.push_back(backend);
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
