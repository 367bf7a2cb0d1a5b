// skiplane enqueue: tasks from arguments, files and streams.
#include "absl/strings/str_cat.h"
#include "client/cli/base/exit_code.h"
#include "client/cli/command/commands.h"
#include "client/cli/command/enqueue_tally.h"
#include "client/cli/input/option.h"
#include "client/cli/options/enqueue_options.h"
#include "client/cli/source/batcher.h"
#include "client/src/random_id.h"

namespace skiplane::cli {
namespace {

using internal::BrokerMethods;

absl::Status Send(Session& session, std::optional<v1::EnqueueRequest> batch, EnqueueTally& tally) {
  if (!batch) return absl::OkStatus();
  tally.Sending();
  const auto answer = session.Call<v1::EnqueueRequest, v1::EnqueueResponse>(
      *std::move(batch), &BrokerMethods::Enqueue);
  if (!answer.ok()) return tally.Placed(answer.status());
  tally.Add(*answer);
  return absl::OkStatus();
}

absl::Status SendAll(Session& session, const EnqueueOptions& options, Batcher& batcher,
                     EnqueueTally& tally) {
  auto defaults = Defaults(options);
  if (!defaults.ok()) return defaults.status();
  auto input = OpenInput(options);
  if (!input.ok()) return input.status();
  while (true) {
    const auto record = input->source->Next();
    if (!record.ok()) return record.status();
    if (!record->has_value()) return Send(session, batcher.End(), tally);
    if (IsStream(options) && !options.allow_invalid_utf8) {
      if (const absl::Status status = CheckText(**record); !status.ok()) return status;
    }
    auto task = ToTask(**record, *defaults);
    if (!task.ok()) return task.status();
    const absl::Status status = Send(session, batcher.Add(*std::move(task)), tally);
    tally.Expect(**record);
    if (!status.ok()) return status;
  }
}

absl::Status Enqueue(Session& session, const EnqueueOptions& given) {
  const EnqueueOptions options = Whole(given);
  if (const absl::Status status = Check(options); !status.ok()) return status;
  const std::string batch_id =
      options.batch_id.empty() ? internal::RandomId() : options.batch_id;
  Batcher batcher(options.queue, batch_id, static_cast<size_t>(options.batch_size.value_or(1000)));
  EnqueueTally tally(session, /*is_stream=*/IsStream(options), batch_id);
  const absl::Status status = SendAll(session, options, batcher, tally);
  tally.End(status);
  return status;
}

}  // namespace

void DeclareEnqueue(CLI::App* app, Plan* plan) {
  const auto options = std::make_shared<EnqueueOptions>();
  CLI::App* const enqueue = AddCommand(
      app, plan, "enqueue",
      "Puts tasks into a queue: one per payload argument, one per file, or one per row or line of "
      "a stream.\n\n"
      "Columns of --csv and --tsv and members of --jsonl are named after what they set: payload, "
      "payload_base64, key, key_policy, priority, delay, schedule_time, max_attempts, stage, "
      "version, period, cron, time_zone, catch_up, queue, content_type and headers.NAME. What a "
      "row does not say is taken from the options, and its queue from QUEUE. Text is UTF-8: what "
      "is not is refused, with its line; arguments and files may hold any bytes.\n\n"
      "A stream is sent in batches of up to 1000 tasks, each all or none. A bad line ends the "
      "run with its number; nothing of its batch is enqueued, the batches before it are. To go on "
      "after that, or after a lost connection, run it again with the same input, the same options "
      "and the --batch-id of the first run: within 24 hours no task is made twice.",
      options, Enqueue);
  AddEnqueueOptions(enqueue, options.get());
  TakeRest(enqueue, plan, &options->rest);
  AddExamples(
      enqueue,
      {"skiplane enqueue mail '{\"to\": \"ann@example.org\"}' --key order-17",
       "skiplane enqueue thumbnails --file *.jpg --key-from-file --content-type image/jpeg",
       "skiplane enqueue mail --jsonl tasks.jsonl --batch-id import-1",
       "skiplane enqueue report x --cron '0 6 * * mon-fri' --time-zone Europe/Berlin --key daily",
       "psql -c \"COPY (SELECT id AS key, body AS payload FROM jobs) TO STDOUT CSV HEADER\" |",
       "  skiplane enqueue mail --csv - --batch-id jobs-1"});
}

}  // namespace skiplane::cli
