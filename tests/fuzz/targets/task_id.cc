// Ids of tasks, and names of queues.
#include "server/model/queue.h"
#include "server/model/limits.h"
#include "server/model/task.h"
#include "tests/fuzz/target.h"

namespace skiplane::fuzz {
namespace {

void ReadTaskId(absl::string_view bytes) {
  const auto id = model::ParseTaskId(bytes);
  if (id.ok()) {
    Demand(model::FormatTaskId(*id) == bytes, "an id has one spelling");
    Demand(id->lane >= 0 && id->id >= 0, "the numbers of an id are not negative");
  } else {
    DemandRefusal(id.status());
  }
  const absl::Status name = model::CheckQueueName(bytes, "name");
  if (!name.ok()) {
    DemandRefusal(name);
    return;
  }
  Demand(!bytes.empty() && bytes.size() <= model::kQueueNameBytesMax, "a name is not too long");
  Demand(bytes.find_first_of(absl::string_view("\0 /\n*", 5)) == absl::string_view::npos,
         "a name holds no NUL, space, slash, line or pattern");
}

const Target kTaskId("task_id", &ReadTaskId);

}  // namespace
}  // namespace skiplane::fuzz
