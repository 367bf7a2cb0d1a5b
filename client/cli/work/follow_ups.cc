#include "client/cli/work/follow_ups.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "client/cli/base/exit_code.h"
#include "client/cli/source/sources.h"
#include "client/src/convert_time.h"

namespace skiplane::cli {
namespace {

constexpr size_t kFollowUpsMax = 100;  // of one attempt, as the broker takes them

NewTask ToNewTask(v1::NewTask proto) {
  NewTask task{.payload = std::move(*proto.mutable_payload()),
               .content_type = proto.content_type(),
               .headers = {proto.headers().begin(), proto.headers().end()},
               .priority = proto.priority(),
               .key = proto.key(),
               .cron = proto.cron(),
               .time_zone = proto.time_zone(),
               .stage = proto.stage(),
               .queue = proto.queue()};
  if (proto.has_max_attempts()) task.max_attempts = proto.max_attempts();
  if (proto.has_version()) task.version = proto.version();
  if (proto.has_schedule_time()) task.schedule_time = internal::FromProto(proto.schedule_time());
  if (proto.has_delay()) task.delay = internal::FromProto(proto.delay());
  if (proto.has_period()) task.period = internal::FromProto(proto.period());
  if (proto.catch_up() == v1::CATCH_UP_RUN_ALL) task.catch_up = CatchUp::kRunAll;
  return task;
}

}  // namespace

absl::StatusOr<std::vector<NewTask>> ReadFollowUps(std::istream& in,
                                                   const std::string& own_queue) {
  std::vector<NewTask> follow_ups;
  v1::NewTask defaults;
  defaults.set_queue(own_queue);
  const auto source = FromJsonLines(in, {});
  while (true) {
    auto record = source->Next();
    if (!record.ok()) return record.status();
    if (!record->has_value()) return follow_ups;
    if (follow_ups.size() == kFollowUpsMax) {
      return UsageError(absl::StrCat((*record)->place, ": more than ", kFollowUpsMax, " tasks"));
    }
    auto task = ToTask(**record, defaults);
    if (!task.ok()) return task.status();
    if (task->key_policy() != v1::KEY_POLICY_UNSPECIFIED &&
        task->key_policy() != v1::KEY_POLICY_KEEP) {
      return UsageError(absl::StrCat((*record)->place, ": key_policy: a follow-up whose key is "
                                     "known makes no second task: leave it out"));
    }
    follow_ups.push_back(ToNewTask(*std::move(task)));
  }
}

}  // namespace skiplane::cli
