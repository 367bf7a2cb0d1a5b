#include "client/cli/options/content_options.h"

#include <utility>

#include "client/cli/base/exit_code.h"
#include "client/cli/base/read_file.h"
#include "client/cli/input/option.h"
#include "client/cli/options/filter_options.h"

namespace skiplane::cli {

void AddContent(CLI::App* app, ContentOptions* options) {
  const std::string group = "Other content";
  AddTexts(app, "--new-payload", &options->payload, "This payload instead of the task's")
      .Group(group);
  AddText(app, "--new-payload-file", &options->payload_file,
          "The payload that this file holds; - is standard input")
      .Type("FILE")
      .Group(group);
  AddTexts(app, "--new-content-type", &options->content_type, "This media type").Group(group);
  AddTexts(app, "--new-header", &options->headers,
           "These headers instead of all that the task has; may be given several times")
      .Type("KEY=VALUE")
      .Group(group);
}

absl::StatusOr<v1::TaskContent> ToContent(const ContentOptions& options, const v1::Task& task) {
  v1::TaskContent content;
  content.set_payload(task.payload());
  content.set_content_type(task.content_type());
  *content.mutable_headers() = task.headers();
  if (options.payload.size() > 1 || options.content_type.size() > 1 ||
      (!options.payload.empty() && !options.payload_file.empty())) {
    return UsageError("give one payload and one content type");
  }
  if (!options.payload.empty()) content.set_payload(options.payload.front());
  if (!options.payload_file.empty()) {
    auto payload = ReadPayload(options.payload_file);
    if (!payload.ok()) return payload.status();
    content.set_payload(*std::move(payload));
  }
  if (!options.content_type.empty()) content.set_content_type(options.content_type.front());
  if (!options.headers.empty()) content.clear_headers();
  for (const std::string& text : options.headers) {
    const auto header = ParseHeader(text);
    if (!header.ok()) return header.status();
    (*content.mutable_headers())[header->first] = header->second;
  }
  return content;
}

}  // namespace skiplane::cli
