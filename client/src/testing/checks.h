// Refusals as a broker gives them, and its checks of what callers say.
#pragma once

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "skiplane/ack.h"
#include "skiplane/new_task.h"
#include "skiplane/queue.h"

namespace skiplane::internal {

absl::Status Refuse(absl::StatusCode code, absl::string_view reason, absl::string_view message,
                    absl::string_view field = "");
absl::Status InvalidField(absl::string_view field, absl::string_view what);

// What a broker cannot read as a message.
absl::Status NotUtf8();

// Of a text that is UTF-8: its size, and that it has no NUL.
absl::Status CheckText(absl::string_view text, size_t bytes_max, absl::string_view field);

// Of a queue or a stage.
absl::Status CheckName(absl::string_view name, size_t bytes_max, absl::string_view field);

// `at` stands before the names of fields, as "tasks[3]."; the queue is not looked at.
absl::Status CheckTask(const NewTask& task, absl::Time now, const std::string& at);

// As of a task, of what is for its next stage.
absl::Status CheckContent(const NextPayload& content, const std::string& at);

absl::Status CheckSettings(const QueueSettings& settings);

}  // namespace skiplane::internal
