#include "client/cli/options/enqueue_options.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <iostream>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "client/cli/base/exit_code.h"
#include "client/cli/input/option.h"
#include "client/cli/options/filter_options.h"
#include "client/cli/text/field.h"

namespace skiplane::cli {
namespace {

// So that position and separator still fit into a request id.
constexpr size_t kBatchIdBytesMax = 100;

struct TaskField {
  const char* option;
  const char* field;
  const char* type;
  const char* help;
};

constexpr std::array kTaskFields{
    TaskField{"--priority,-p", "priority", "N", "-32768 to 32767; smaller is more urgent"},
    TaskField{"--delay", "delay", "DURATION", "Run not before this long from now"},
    TaskField{"--at", "schedule_time", "TIME", "Run not before this time"},
    TaskField{"--key", "key", "TEXT", "Your own id of the task: a repeat makes no second one"},
    TaskField{"--key-policy", "key_policy", "WORD",
              "If the key is known: keep (default), keep-unfinished, rerun-if-newer, "
              "replace-waiting, reject or schedule"},
    TaskField{"--version", "version", "N", "How new the content is, for --key-policy"},
    TaskField{"--period", "period", "DURATION", "Run it again and again, this far apart"},
    TaskField{"--cron", "cron", "TEXT", "Run it again and again, at these times"},
    TaskField{"--time-zone", "time_zone", "NAME", "The IANA zone of --cron; default UTC"},
    TaskField{"--catch-up", "catch_up", "WORD",
              "What becomes of missed times: skip-missed (default) or run-all"},
    TaskField{"--stage", "stage", "NAME", "Begin at this stage; default the first"},
    TaskField{"--max-attempts", "max_attempts", "N", "Attempts until it has failed for good"},
    TaskField{"--content-type", "content_type", "TEXT", "The payload's media type"},
};

absl::StatusOr<Renames> ToRenames(const std::vector<std::string>& texts) {
  Renames renames;
  for (const std::string& text : texts) {
    const std::pair<std::string, std::string> parts =
        absl::StrSplit(text, absl::MaxSplits('=', 1));
    if (parts.second.empty()) return UsageError(absl::StrCat("--map: '", text, "' has no '='"));
    renames[parts.first] = parts.second;
  }
  return renames;
}

void AddSources(CLI::App* app, EnqueueOptions* options) {
  const std::string group = "Where tasks come from";
  AddTexts(app, "--file", &options->files,
           "Files whose contents are payloads, one task each, with the name as header 'file'; - is "
           "standard input")
      .Type("PATH...")
      .TakesMany()
      .Group(group);
  AddSwitch(app, "--key-from-file", &options->key_from_file,
            "The name of each --file is its task's key, too: a repeat makes no second task")
      .Group(group);
  const auto add = [&](const char* name, std::string* value, const char* help) {
    AddText(app, name, value, help).Type("FILE").Group(group);
  };
  add("--lines", &options->lines, "Each line is a payload; - is standard input");
  add("--jsonl", &options->jsonl, "Each line is a JSON object; a payload may be any JSON value");
  add("--csv", &options->csv, "Comma-separated, as RFC 4180 says; the first row names the columns");
  add("--tsv", &options->tsv, "Tab-separated with backslashes, as mysql --batch and COPY write it");
  AddTexts(app, "--map", &options->renames,
           "This column or member means that field; - leaves it out")
      .Type("COLUMN=FIELD")
      .Group(group);
  AddText(app, "--columns", &options->columns,
          "The columns of --csv and --tsv when the first row does not name them")
      .Type("NAME,...")
      .Group(group);
  AddText(app, "--null", &options->null, "A cell that is this text has no value, for mysql: NULL")
      .Group(group);
  AddSwitch(app, "--allow-invalid-utf8", &options->allow_invalid_utf8,
            "Take payloads of --lines, --csv and --tsv that are not UTF-8 as they are")
      .Group(group);
  AddText(app, "--batch-id", &options->batch_id,
          "Makes the run repeatable: see above. Default: a random one, told when the run breaks")
      .Group(group);
  AddNumber(app, "--batch-size", &options->batch_size, "Tasks per call, 1 to 1000")
      .Default("1000")
      .Group(group);
}

}  // namespace

void AddEnqueueOptions(CLI::App* app, EnqueueOptions* options) {
  AddText(app, "QUEUE", &options->queue, "The queue").Required();
  AddTexts(app, "PAYLOAD", &options->payloads, "Payloads, one task each");
  AddSources(app, options);
  for (const TaskField& field : kTaskFields) {
    AddSetter(app, field.option,
              [options, name = field.field](const std::string& text) {
                options->fields[name] = text;
              },
              field.help)
        .Type(field.type)
        .Group("What tasks have in common");
  }
  AddTexts(app, "--header", &options->headers, "May be given several times")
      .Type("KEY=VALUE")
      .Group("What tasks have in common");
}

EnqueueOptions Whole(EnqueueOptions options) {
  options.payloads.insert(options.payloads.end(), options.rest.begin(), options.rest.end());
  options.rest.clear();
  return options;
}

bool IsStream(const EnqueueOptions& options) {
  return options.payloads.empty() && options.files.empty();
}

absl::Status Check(const EnqueueOptions& options) {
  const int sources = !options.payloads.empty() + !options.files.empty() +
                      !options.lines.empty() + !options.jsonl.empty() + !options.csv.empty() +
                      !options.tsv.empty();
  if (sources != 1) {
    return UsageError("give payloads, or one of --file, --lines, --jsonl, --csv and --tsv");
  }
  if (options.fields.contains("delay") && options.fields.contains("schedule_time")) {
    return UsageError("give one of --delay and --at");
  }
  if (options.fields.contains("period") && options.fields.contains("cron")) {
    return UsageError("give one of --period and --cron");
  }
  if (options.fields.contains("key") && options.payloads.size() + options.files.size() != 1) {
    return UsageError("--key is the key of a single task; for files there is --key-from-file");
  }
  if (options.key_from_file) {
    if (options.files.empty()) return UsageError("--key-from-file is for --file");
    if (options.fields.contains("key")) return UsageError("give one of --key and --key-from-file");
    if (std::count(options.files.begin(), options.files.end(), "-") > 0) {
      return UsageError("--key-from-file: standard input has no name; give --key");
    }
  }
  if (options.batch_id.size() > kBatchIdBytesMax) {
    return UsageError("--batch-id has at most 100 bytes");
  }
  if (options.batch_size && (*options.batch_size < 1 || *options.batch_size > 1000)) {
    return UsageError("--batch-size is 1 to 1000");
  }
  return absl::OkStatus();
}

absl::StatusOr<v1::NewTask> Defaults(const EnqueueOptions& options) {
  Record record{.place = "options"};
  for (const auto& [field, text] : options.fields) record.fields.emplace_back(field, text);
  for (const std::string& text : options.headers) {
    const auto header = ParseHeader(text);
    if (!header.ok()) return header.status();
    record.fields.emplace_back(absl::StrCat("headers.", header->first), header->second);
  }
  return ToTask(record, {});
}

absl::StatusOr<Input> OpenInput(const EnqueueOptions& options) {
  if (!options.payloads.empty()) return Input{.source = FromPayloads(options.payloads)};
  if (!options.files.empty()) {
    const bool has_header =
        std::any_of(options.headers.begin(), options.headers.end(),
                    [](const std::string& text) { return absl::StartsWith(text, "file="); });
    return Input{.source = FromFiles(options.files, {.as_header = !has_header,
                                                     .as_key = options.key_from_file})};
  }
  absl::StatusOr<Renames> renames = ToRenames(options.renames);
  if (!renames.ok()) return renames.status();
  const std::string path =
      absl::StrCat(options.lines, options.jsonl, options.csv, options.tsv);  // one is not empty
  Input input;
  if (path == "-") {
    input.stream = std::make_unique<std::istream>(std::cin.rdbuf());
  } else {
    input.stream = std::make_unique<std::ifstream>(path, std::ios::binary);
  }
  if (!*input.stream) return LocalError(absl::StrCat("cannot read ", path));
  if (!options.lines.empty()) {
    input.source = FromLines(*input.stream);
  } else if (!options.jsonl.empty()) {
    input.source = FromJsonLines(*input.stream, *std::move(renames));
  } else {
    const auto form = options.csv.empty() ? RowReader::Form::kTsv : RowReader::Form::kCsv;
    input.source = FromRows(RowReader(*input.stream, form, options.null),
                            absl::StrSplit(options.columns, ',', absl::SkipEmpty()),
                            *std::move(renames));
  }
  return input;
}

}  // namespace skiplane::cli
