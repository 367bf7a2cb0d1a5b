#include "client/cli/command/enqueue_tally.h"

#include <iostream>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "client/cli/base/exit_code.h"
#include "client/cli/base/terminal.h"
#include "client/cli/text/field.h"
#include "client/cli/text/table.h"
#include "client/cli/text/utf8.h"
#include "nlohmann/json.hpp"
#include "skiplane/error.h"

namespace skiplane::cli {

EnqueueTally::EnqueueTally(Session& session, bool is_stream, std::string batch_id)
    : session_(session),
      is_stream_(is_stream),
      batch_id_(std::move(batch_id)),
      bar_(std::cerr, is_stream && IsTerminal(2)) {}

void EnqueueTally::Add(const v1::EnqueueResponse& response) {
  for (const v1::EnqueueResult& result : response.results()) {
    const std::string outcome = FieldText(result, "outcome");
    ++outcomes_[outcome];
    ++count_;
    const std::string file = std::move(sent_.front().file);
    sent_.pop_front();
    if (!is_stream_) Tell(result, outcome, file);
  }
  bar_.Draw(count_, 0, "tasks");
}

absl::Status EnqueueTally::Placed(const absl::Status& refusal) const {
  const std::string field = ErrorField(refusal);
  absl::string_view rest = field;
  size_t task = 0;
  const bool is_of_task = absl::ConsumePrefix(&rest, "tasks[") &&
                          absl::SimpleAtoi(rest.substr(0, rest.find(']')), &task);
  if (!is_stream_ || !is_of_task || task >= sent_.size()) return refusal;
  return UsageError(absl::StrCat(sent_[task].place, ": ", Explain(refusal)));
}

void EnqueueTally::Tell(const v1::EnqueueResult& result, const std::string& outcome,
                        const std::string& file) {
  if (session_.json()) {
    auto fields = nlohmann::ordered_json::parse(ToJson(result));
    if (!file.empty()) fields["file"] = Utf8Valid(file);
    session_.out() << fields << "\n";
    return;
  }
  session_.out() << result.task_id() << " " << outcome;
  if (!file.empty()) session_.out() << " " << OneLine(file);
  session_.out() << "\n";
}

void EnqueueTally::End(const absl::Status& status) {
  bar_.Clear();
  if (!status.ok() && !has_sent_) {
    std::cerr << "skiplane: nothing was enqueued\n";
    return;
  }
  if (is_stream_) TellSum();
  if (!status.ok()) TellHowToGoOn();
}

void EnqueueTally::TellSum() {
  if (session_.json()) {
    session_.out() << nlohmann::json{
        {"batch_id", batch_id_}, {"task_count", count_}, {"outcomes", outcomes_}}
                   << "\n";
    return;
  }
  session_.out() << FormatCount(count_) << " tasks enqueued";
  const char* separator = ": ";
  for (const auto& [outcome, count] : outcomes_) {
    session_.out() << std::exchange(separator, ", ") << FormatCount(count) << " " << outcome;
  }
  session_.out() << "\n";
}

void EnqueueTally::TellHowToGoOn() const {
  if (!is_stream_ && count_ == 0) return;
  if (count_ == 0) {
    std::cerr << "skiplane: no task is known to be in";
  } else {
    std::cerr << "skiplane: the first " << FormatCount(count_) << " tasks are in";
  }
  std::cerr << ". To go on, repeat the run with --batch-id " << batch_id_ << "\n";
}

}  // namespace skiplane::cli
