// JSON as a message. The first byte chooses the method whose request it is.
#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <memory>
#include <string>
#include <vector>

#include "server/http/connect/codec.h"
#include "server/rpc/call/list_token.h"
#include "skiplane/v1/admin.pb.h"
#include "skiplane/v1/broker.pb.h"
#include "tests/fuzz/target.h"

namespace skiplane::fuzz {
namespace {

using google::protobuf::Descriptor;
using http::connect::Form;

std::vector<const Descriptor*> RequestTypes() {
  std::vector<const Descriptor*> types;
  for (const auto* file : {v1::EnqueueRequest::descriptor()->file(),
                           v1::CreateQueueRequest::descriptor()->file()}) {
    const auto* const service = file->service(0);
    for (int i = 0; i < service->method_count(); ++i) {
      types.push_back(service->method(i)->input_type());
    }
  }
  return types;
}

// The message that the bytes are, with the entries of its maps in order.
std::string InOrder(const std::string& bytes, const Descriptor& type) {
  const std::unique_ptr<google::protobuf::Message> message(
      google::protobuf::MessageFactory::generated_factory()->GetPrototype(&type)->New());
  Demand(message->ParseFromString(bytes), "what comes of JSON is such a message");
  return rpc::SortedBytes(*message);
}

void ReadConnectJson(absl::string_view bytes) {
  static const std::vector<const Descriptor*> types = RequestTypes();
  const Descriptor& type = *types[TakeChoice(&bytes, types.size())];
  const auto message = http::connect::ToBytes(std::string(bytes), Form::kJson, type);
  if (!message.ok()) {
    DemandRefusal(message.status());
    return;
  }
  const auto json = http::connect::FromBytes(*message, Form::kJson, type);
  if (!json.ok()) return;  // a mask or a time that JSON cannot say
  const auto again = http::connect::ToBytes(*json, Form::kJson, type);
  Demand(again.ok(), "what is written as JSON is read");
  Demand(InOrder(*again, type) == InOrder(*message, type), "it is the same message");
}

const Target kConnectJson("connect_json", &ReadConnectJson);

}  // namespace
}  // namespace skiplane::fuzz
