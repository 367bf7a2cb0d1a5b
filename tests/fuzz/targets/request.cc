#include "tests/fuzz/targets/request.h"

#include "absl/strings/str_cat.h"
#include "server/model/limits.h"
#include "server/model/queue.h"

namespace skiplane::fuzz {

void DemandText(absl::string_view text, size_t bytes_max) {
  Demand(text.size() <= bytes_max, "a text is not too long");
  Demand(text.find('\0') == absl::string_view::npos, "a text holds no NUL");
}

void DemandNumber(int64_t value, int64_t least, int64_t most) {
  Demand(value >= least && value <= most, absl::StrCat("a number is in its range: ", value));
}

void DemandDuration(absl::Duration value, absl::Duration least, absl::Duration most) {
  Demand(value >= least && value <= most,
         absl::StrCat("a duration is in its range: ", absl::FormatDuration(value)));
}

void DemandHeaders(const model::Headers& headers) {
  Demand(headers.size() <= model::kHeadersMax, "headers are not too many");
  for (size_t i = 0; i < headers.size(); ++i) {
    DemandText(headers[i].first, model::kHeaderKeyBytesMax);
    DemandText(headers[i].second, model::kHeaderValueBytesMax);
    Demand(!headers[i].first.empty(), "a header has a key");
    Demand(i == 0 || headers[i - 1].first < headers[i].first, "headers are in order, each once");
  }
}

void DemandQueueName(absl::string_view name) {
  Demand(model::CheckQueueName(name, "queue").ok(), "a queue's name is one");
}

void DemandTellable(const absl::Status& refusal) {
  const grpc::Status told = rpc::ToGrpc(refusal);
  Demand(told.error_code() == grpc::StatusCode::INVALID_ARGUMENT, "the code is what callers get");
  Demand(!told.error_details().empty() &&
             told.error_details().size() <= rpc::kStatusDetailsBytesMax,
         "details are there and fit");
  Demand(told.error_message().size() <= rpc::kStatusMessageBytesMax, "a message fits");
  for (const auto& [name, value] : rpc::TrailersOf(refusal)) {
    Demand(value.size() <= rpc::kStatusFieldBytesMax, "a trailer fits");
    for (const char c : value) Demand(c >= ' ' && c <= '~', "a trailer is ASCII");
  }
}

}  // namespace skiplane::fuzz
