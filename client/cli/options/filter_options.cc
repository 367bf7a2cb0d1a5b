#include "client/cli/options/filter_options.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "client/cli/base/exit_code.h"
#include "client/cli/input/option.h"
#include "client/cli/text/enum_word.h"
#include "client/src/convert_time.h"

namespace skiplane::cli {
namespace {

absl::Status AddStates(const std::vector<std::string>& texts, v1::TaskFilter& filter) {
  for (const std::string& text : texts) {
    for (const absl::string_view word : absl::StrSplit(text, ',', absl::SkipEmpty())) {
      const absl::StatusOr<int> state = ParseEnumWord(*v1::TaskState_descriptor(), word);
      if (!state.ok()) return state.status();
      filter.add_states(static_cast<v1::TaskState>(*state));
    }
  }
  return absl::OkStatus();
}

}  // namespace

void AddFilter(CLI::App* app, FilterOptions* options) {
  const auto in_group = [](Option option) { option.Group("Which tasks"); };
  in_group(AddText(app, "--queue,-q", &options->queue, "Those of this queue"));
  in_group(AddText(app, "--stage", &options->stage, "At this stage"));
  in_group(AddTexts(app, "--state", &options->states,
                    "In these states: scheduled, ready, leased, succeeded, failed, cancelled; "
                    "several are separated by commas. Without it: scheduled, ready and leased; "
                    "to retry or delete, failed, too")
               .Type("WORD"));
  in_group(AddText(app, "--key-prefix", &options->key_prefix, "Whose key begins with this"));
  in_group(AddTexts(app, "--header", &options->headers,
                    "That have this header; may be given several times")
               .Type("KEY=VALUE"));
  in_group(AddText(app, "--fingerprint", &options->fingerprint,
                   "Whose last failure has this fingerprint (errors list shows them)"));
  in_group(AddText(app, "--error-type", &options->error_type,
                   "Whose last failure has this error type"));
  in_group(AddNumber(app, "--min-attempts", &options->min_attempts,
                     "That have begun at least so many attempts"));
  in_group(AddText(app, "--payload-text", &options->payload_text,
                   "Whose payload has this among its first 64 KiB; slow"));
  in_group(AddTexts(app, "--task", &options->tasks, "Only these; may be given 1000 times")
               .Type("TASK"));
  in_group(AddInstant(app, "--from", &options->from, "Enqueued at this time or later"));
  in_group(AddInstant(app, "--to", &options->to, "Enqueued before this time"));
  in_group(AddDuration(app, "--min-age", &options->min_age, "Enqueued at least so long ago"));
  in_group(AddDuration(app, "--max-age", &options->max_age, "Enqueued at most so long ago"));
  in_group(AddSwitch(app, "--periodic", &options->periodic, "Periodic ones only"));
  in_group(AddSwitch(app, "--not-periodic", &options->not_periodic, "No periodic ones"));
}

absl::StatusOr<v1::TaskFilter> ToFilter(const FilterOptions& options) {
  v1::TaskFilter filter;
  filter.set_queue(options.queue);
  filter.set_stage(options.stage);
  if (absl::Status status = AddStates(options.states, filter); !status.ok()) return status;
  filter.set_key_prefix(options.key_prefix);
  for (const std::string& text : options.headers) {
    auto header = ParseHeader(text);
    if (!header.ok()) return header.status();
    (*filter.mutable_headers())[header->first] = header->second;
  }
  filter.set_fingerprint(options.fingerprint);
  if (options.min_age) internal::ToProto(*options.min_age, filter.mutable_min_age());
  if (options.max_age) internal::ToProto(*options.max_age, filter.mutable_max_age());
  if (options.periodic && options.not_periodic) {
    return UsageError("--periodic and --not-periodic: give one of them, or none for both kinds");
  }
  if (options.periodic || options.not_periodic) filter.set_periodic(options.periodic);
  for (const std::string& task : options.tasks) filter.add_task_ids(task);
  filter.set_error_type(options.error_type);
  filter.set_min_attempts(options.min_attempts.value_or(0));
  if (options.from) internal::ToProto(*options.from, filter.mutable_start_time());
  if (options.to) internal::ToProto(*options.to, filter.mutable_end_time());
  filter.set_payload_text(options.payload_text);
  filter.set_all(options.all);
  return filter;
}

absl::StatusOr<std::pair<std::string, std::string>> ParseHeader(const std::string& text) {
  std::pair<std::string, std::string> header = absl::StrSplit(text, absl::MaxSplits('=', 1));
  if (header.first.empty() || text.find('=') == std::string::npos) {
    return UsageError(absl::StrCat("--header: '", text, "' is not KEY=VALUE"));
  }
  return header;
}

}  // namespace skiplane::cli
