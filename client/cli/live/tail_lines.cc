#include "client/cli/live/tail_lines.h"

#include <google/protobuf/util/message_differencer.h>

#include "absl/strings/str_cat.h"
#include "client/cli/text/field.h"
#include "client/cli/text/table.h"

namespace skiplane::cli {

namespace {

// Attempts that ended well: of a pipeline, those of all its stages.
int64_t Succeeded(const v1::QueueCounts& counts) {
  int64_t succeeded = counts.stages().empty() ? counts.succeeded_count() : 0;
  for (const v1::StageCounts& stage : counts.stages()) succeeded += stage.succeeded_count();
  return succeeded;
}

}  // namespace

std::string CountLines::Next(v1::QueueCounts counts) {
  using google::protobuf::util::MessageDifferencer;
  for (v1::StageCounts& stage : *counts.mutable_stages()) stage.clear_oldest_ready_age();
  if (last_ && MessageDifferencer::Equals(*last_, counts)) return "";
  const v1::QueueCounts before = last_.value_or(counts);
  last_ = counts;
  return absl::StrCat("succeeded +", Succeeded(counts) - Succeeded(before),
                      "  failed +", counts.failed_count() - before.failed_count(), "  ready ",
                      counts.ready_count(), "  leased ", counts.leased_count(), "  scheduled ",
                      counts.scheduled_count());
}

std::string ErrorLines::Next(const v1::ErrorGroup& group) {
  const std::string seen =
      absl::StrCat(group.last_seen_time().seconds(), ".", group.last_seen_time().nanos());
  std::string& last =
      last_seen_[absl::StrCat(group.queue(), "/", group.stage(), "/", group.fingerprint())];
  const bool is_new = last != seen && !is_first_round_;
  last = seen;
  if (!is_new) return "";
  const std::string stage = group.stage().empty() ? "" : absl::StrCat(" at ", group.stage());
  const std::string text = group.text().empty() ? "" : absl::StrCat(": ", group.text());
  return OneLine(absl::StrCat("error ", group.type(), stage, " (", group.retrying_count(),
                              " retrying, ", group.failed_count(), " failed)", text));
}

std::string TaskLine(const v1::Task& task) {
  std::string line = absl::StrCat("task ", task.task_id(), " ", FieldText(task, "state"));
  if (!task.stage().empty()) absl::StrAppend(&line, " at ", task.stage());
  if (!task.key().empty()) absl::StrAppend(&line, " key ", task.key());
  return OneLine(line);
}

}  // namespace skiplane::cli
