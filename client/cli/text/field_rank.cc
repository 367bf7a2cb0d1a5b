// The part of field.h that compares.
#include <google/protobuf/descriptor.h>
#include <google/protobuf/duration.pb.h>
#include <google/protobuf/timestamp.pb.h>

#include <utility>

#include "absl/strings/str_split.h"
#include "client/cli/text/field.h"

namespace skiplane::cli {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

constexpr double kNanosInSecond = 1e9;

// Both kinds of time have these two fields.
double Seconds(const Message& time) {
  const auto* const type = time.GetDescriptor();
  const auto& get = *time.GetReflection();
  return static_cast<double>(get.GetInt64(time, type->FindFieldByName("seconds"))) +
         get.GetInt32(time, type->FindFieldByName("nanos")) / kNanosInSecond;
}

bool IsTimeOrDuration(const FieldDescriptor& field) {
  return field.message_type() == google::protobuf::Duration::descriptor() ||
         field.message_type() == google::protobuf::Timestamp::descriptor();
}

}  // namespace

std::pair<double, std::string> FieldRank(const Message& message, absl::string_view path) {
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(path, absl::MaxSplits('.', 1));
  const FieldDescriptor* const field =
      message.GetDescriptor()->FindFieldByName(std::string(parts.first));
  const auto& get = *message.GetReflection();
  if (field == nullptr || field->is_repeated()) return {0, FieldText(message, path)};
  if (field->has_presence() && !get.HasField(message, field)) return {0, ""};
  if (!parts.second.empty()) return FieldRank(get.GetMessage(message, field), parts.second);
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32: return {get.GetInt32(message, field), ""};
    case FieldDescriptor::CPPTYPE_INT64:
      return {static_cast<double>(get.GetInt64(message, field)), ""};
    case FieldDescriptor::CPPTYPE_DOUBLE: return {get.GetDouble(message, field), ""};
    case FieldDescriptor::CPPTYPE_MESSAGE:
      if (IsTimeOrDuration(*field)) return {Seconds(get.GetMessage(message, field)), ""};
      [[fallthrough]];
    default: return {0, FieldText(message, path)};
  }
}

}  // namespace skiplane::cli
