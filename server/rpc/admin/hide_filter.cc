#include "server/rpc/admin/hide_filter.h"

#include <initializer_list>
#include <string>

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "server/rpc/call/call_wire.h"

namespace skiplane::rpc {
namespace {

using access::Verb;
using google::protobuf::Struct;

struct Hidden {
  bool headers;
  bool keys;
};

Hidden HiddenOn(const access::Grants& grants, const std::string& queue) {
  return {!grants.Allows(Verb::kReadPayload, queue), !grants.Allows(Verb::kRead, queue)};
}

void Hide(const Hidden& hidden, Struct* filter) {
  auto& fields = *filter->mutable_fields();
  if (const auto headers = fields.find("headers"); hidden.headers && headers != fields.end()) {
    for (auto& [name, value] : *headers->second.mutable_struct_value()->mutable_fields()) {
      value.set_string_value("");
    }
  }
  if (hidden.keys) fields.erase("key_prefix");
  if (hidden.headers) fields.erase("payload_text");
}

// Where a copy or a move went, and its key there: of that queue.
void HideTarget(const access::Grants& grants, const std::string& queue, Struct* request) {
  auto& fields = *request->mutable_fields();
  const auto target = fields.find("queue");
  if (target == fields.end() || target->second.string_value() == queue) return;
  if (grants.Allows(Verb::kRead, target->second.string_value())) return;
  for (const char* name : {"queue", "stage", "key"}) fields.erase(name);
}

void HideContentType(Struct* request) {
  const auto content = request->mutable_fields()->find("new_content");
  if (content == request->mutable_fields()->end()) return;
  content->second.mutable_struct_value()->mutable_fields()->erase("content_type");
}

bool HoldsAny(absl::string_view json, std::initializer_list<absl::string_view> names) {
  return absl::c_any_of(
      names, [&](absl::string_view name) { return absl::StrContains(json, name); });
}

}  // namespace

void HideFilter(const access::Grants& grants, model::BulkOperation* operation) {
  model::TaskFilter& filter = operation->filter;
  const Hidden hidden = HiddenOn(grants, filter.queue);
  if (hidden.keys) filter.key_prefix.clear();
  if (!hidden.headers) return;
  filter.payload_text.clear();
  for (auto& [name, value] : filter.headers) value.clear();
}

void HideFilter(const access::Grants& grants, model::AuditRecord* record) {
  if (grants.AllowsAll(Verb::kRead) && grants.AllowsAll(Verb::kReadPayload)) return;
  std::string& json = record->origin.request_json;
  if (!HoldsAny(json, {"\"filter\"", "\"queue\"", "\"new_content\""})) return;
  const Hidden hidden = HiddenOn(grants, record->queue);
  Struct request;
  if (!google::protobuf::util::JsonStringToMessage(json, &request).ok()) request.Clear();
  const auto filter = request.mutable_fields()->find("filter");
  if (filter != request.mutable_fields()->end()) {
    Hide(hidden, filter->second.mutable_struct_value());
  }
  HideTarget(grants, record->queue, &request);
  if (hidden.headers) HideContentType(&request);
  json = MessageToJson(request);
}

}  // namespace skiplane::rpc
