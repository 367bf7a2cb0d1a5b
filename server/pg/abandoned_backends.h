// The server's processes whose connections were given up while they worked, and why that matters:
//
// One that waits for a synchronous standby goes on waiting, for as long as the standby is away, and
// each new connection would leave one more. Nobody may cancel or terminate those: PostgreSQL would
// then have committed on this server only. So while one of them waits no connection is opened.
// Thread-safe.
#pragma once

#include <cstdint>
#include <pqxx/pqxx>
#include <vector>

#include "absl/status/status.h"
#include "server/base/mutex.h"

namespace skiplane::pg {

struct Backend {
  int pid = 0;
  int64_t seen_time = 0;  // by its clock, in microseconds: one that started later is another one

  friend bool operator==(const Backend& a, const Backend& b) {
    return a.pid == b.pid && a.seen_time == b.seen_time;
  }
};

class AbandonedBackends {
 public:
  void Add(const Backend& backend);

  // SYNCHRONOUS_STANDBY_AWAY while one of them waits. Forgets those that are gone. Asks the server
  // only if there are any; throws what libpqxx throws.
  absl::Status Check(pqxx::connection& connection);

 private:
  base::Mutex mutex_;
  std::vector<Backend> backends_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace skiplane::pg
