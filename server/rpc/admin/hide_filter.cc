#include "server/rpc/admin/hide_filter.h"

#include <string>

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>

#include "absl/strings/match.h"
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
  const Hidden hidden = HiddenOn(grants, record->queue);
  std::string& json = record->origin.request_json;
  if (!(hidden.headers || hidden.keys) || !absl::StrContains(json, "\"filter\"")) return;
  Struct request;
  if (!google::protobuf::util::JsonStringToMessage(json, &request).ok()) request.Clear();
  const auto filter = request.mutable_fields()->find("filter");
  if (filter != request.mutable_fields()->end()) {
    Hide(hidden, filter->second.mutable_struct_value());
  }
  json = MessageToJson(request);
}

}  // namespace skiplane::rpc
