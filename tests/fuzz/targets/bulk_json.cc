// Filters and changes of bulk operations, as the table holds them.
#include "server/base/reason.h"
#include "server/model/task_filter.h"
#include "tests/fuzz/target.h"

namespace skiplane::fuzz {
namespace {

void ReadBulk(absl::string_view bytes) {
  model::TaskFilter filter;
  model::TaskChange change;
  const absl::Status status = model::BulkFromJson(bytes, &filter, &change);
  if (!status.ok()) {
    Demand(base::ReasonOf(status) == "INTERNAL_ERROR",
           "an operation that cannot be read is the broker's fault");
    return;
  }
  model::TaskFilter filter_again;
  model::TaskChange change_again;
  const std::string text = model::BulkToJson(filter, change);
  Demand(model::BulkFromJson(text, &filter_again, &change_again).ok(), "what is written is read");
  Demand(filter_again == filter, "a filter is read as it was written");
  Demand(change_again == change, "a change is read as it was written");
  Demand(change.kind >= model::TaskChange::Kind::kPrioritize &&
             change.kind <= model::TaskChange::Kind::kDeleteQueue,
         "a change is one that we know");
}

const Target kBulkJson("bulk_json", &ReadBulk);

}  // namespace
}  // namespace skiplane::fuzz
