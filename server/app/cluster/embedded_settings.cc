#include "server/app/cluster/embedded_settings.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "absl/strings/str_cat.h"

namespace skiplane::app {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;

// A queue changes the same rows again and again: vacuum looks often and does not pause. Not every
// second: behind an old snapshot, where it can remove nothing, that took a quarter of the CPU. And
// checkpoints are far apart because each one makes every page's next change a full image. No
// plan hangs on statistics any more, and under a light load those of small tables were a tenth of
// the WAL.
constexpr char kSettings[] = R"(
listen_addresses = ''
unix_socket_permissions = 0700
max_connections = 100

fsync = on
full_page_writes = on
synchronous_commit = on
wal_compression = on
min_wal_size = 512MB
max_wal_size = 4GB
checkpoint_timeout = 15min
checkpoint_completion_target = 0.9

autovacuum_naptime = 15s
autovacuum_vacuum_cost_delay = 0
autovacuum_vacuum_scale_factor = 0.01
autovacuum_analyze_scale_factor = 0.05
autovacuum_analyze_threshold = 5000

jit = off
random_page_cost = 1.1
timezone = 'UTC'
log_timezone = 'UTC'
lc_messages = 'C'
log_min_messages = warning
log_checkpoints = off
log_line_prefix = '%m [%p] '
)";

}  // namespace

int64_t MemoryBytes() {
  int64_t bytes = int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
  std::ifstream limit("/sys/fs/cgroup/memory.max");
  int64_t limit_bytes = 0;
  if (limit >> limit_bytes && limit_bytes > 0) bytes = std::min(bytes, limit_bytes);
  return bytes;
}

int64_t SharedBuffersBytes(int64_t memory_bytes) {
  return std::clamp(memory_bytes / 4, 128 * kMiB, 1024 * kMiB);
}

std::string EmbeddedSettings(int64_t memory_bytes) {
  return absl::StrCat(
      "# Written by skiplaned at each start. Settings of your own belong to the end of\n"
      "# pgdata/postgresql.conf, which has the last word.\n",
      "shared_buffers = ", SharedBuffersBytes(memory_bytes) / kMiB, "MB", kSettings);
}

}  // namespace skiplane::app
