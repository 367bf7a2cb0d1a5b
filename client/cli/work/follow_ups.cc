#include "client/cli/work/follow_ups.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/cli/base/exit_code.h"
#include "client/cli/source/sources.h"
#include "client/src/convert_time.h"

namespace skiplane::cli {
namespace {

constexpr size_t kFollowUpsMax = 100;  // of one attempt, as the broker takes them
constexpr char kQueue[] = "queue";

NewTask ToNewTask(v1::NewTask proto) {
  NewTask task{.payload = std::move(*proto.mutable_payload()),
               .content_type = proto.content_type(),
               .headers = {proto.headers().begin(), proto.headers().end()},
               .priority = proto.priority(),
               .max_attempts = proto.max_attempts(),
               .key = proto.key(),
               .version = proto.version(),
               .cron = proto.cron(),
               .time_zone = proto.time_zone(),
               .stage = proto.stage()};
  if (proto.has_schedule_time()) task.schedule_time = internal::FromProto(proto.schedule_time());
  if (proto.has_delay()) task.delay = internal::FromProto(proto.delay());
  if (proto.has_period()) task.period = internal::FromProto(proto.period());
  if (proto.catch_up() == v1::CATCH_UP_RUN_ALL) task.catch_up = CatchUp::kRunAll;
  return task;
}

std::string TakeQueue(Record& record, const std::string& own_queue) {
  const auto found = std::find_if(record.fields.begin(), record.fields.end(),
                                  [](const auto& field) { return field.first == kQueue; });
  if (found == record.fields.end()) return own_queue;
  std::string queue = std::move(found->second);
  record.fields.erase(found);
  return queue;
}

}  // namespace

absl::StatusOr<std::vector<FollowUp>> ReadFollowUps(std::istream& in,
                                                    const std::string& own_queue) {
  std::vector<FollowUp> follow_ups;
  const auto source = FromJsonLines(in, {}, kQueue);
  while (true) {
    auto record = source->Next();
    if (!record.ok()) return record.status();
    if (!record->has_value()) return follow_ups;
    if (follow_ups.size() == kFollowUpsMax) {
      return UsageError(absl::StrCat((*record)->place, ": more than ", kFollowUpsMax, " tasks"));
    }
    FollowUp follow_up{.queue = TakeQueue(**record, own_queue)};
    auto task = ToTask(**record, {});
    if (!task.ok()) return task.status();
    if (task->key_policy() != v1::KEY_POLICY_UNSPECIFIED &&
        task->key_policy() != v1::KEY_POLICY_KEEP) {
      return UsageError(absl::StrCat((*record)->place, ": key_policy: a follow-up whose key is "
                                     "known makes no second task: leave it out"));
    }
    follow_up.task = ToNewTask(*std::move(task));
    follow_ups.push_back(std::move(follow_up));
  }
}

}  // namespace skiplane::cli
