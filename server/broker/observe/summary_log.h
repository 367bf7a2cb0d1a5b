// The summaries of all queues as they were read last, in the order in which they changed: so that
// one who watches, however slow it is, needs to keep only how far it has been told. Not
// thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/container/node_hash_map.h"
#include "absl/functional/function_ref.h"
#include "server/broker/api/watch_calls.h"

namespace skiplane::broker {

class SummaryLog {
 public:
  // How far one has been told.
  struct Reader {
    int64_t seen = 0;        // all changes up to this one; 0 looks at all queues again
    std::vector<bool> told;  // by slot: queues that it believes to be there
  };

  // All queues, in any number of parts. Those that no part had are gone when the read ends; a read
  // that failed need not end.
  void BeginRead() { ++read_; }
  void Take(std::vector<QueueSummary> part);
  void EndRead();

  bool Has(const std::string& queue) const;

  // What the reader was not told of the queues that it may see, of about `bytes_max`, but always
  // one. A queue that it was told of and may see no more is removed for it.
  QueueChanges Next(Reader* reader, absl::FunctionRef<bool(const std::string&)> sees,
                    int64_t bytes_max) const;

  // Forgets queues that are gone, and of which everybody was told up to here.
  void Forget(int64_t seen_by_all);

 private:
  struct Entry {
    std::string name;
    SummaryPtr summary;  // null: the queue is gone
    int64_t change = 0;
    int64_t read = 0;
    size_t slot = 0;
  };

  void Note(Entry& entry, SummaryPtr summary);
  Entry& EntryOf(const std::string& name);

  int64_t read_ = 0;
  int64_t last_change_ = 0;
  absl::node_hash_map<std::string, Entry> entries_;
  std::map<int64_t, Entry*> by_change_;
  std::map<int64_t, Entry*> gone_;  // of these, the queues that are gone
  std::vector<size_t> free_slots_;
};

}  // namespace skiplane::broker
