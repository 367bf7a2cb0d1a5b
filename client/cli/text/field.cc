// The half of field.h that reads.
#include "client/cli/text/field.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/duration.pb.h>
#include <google/protobuf/timestamp.pb.h>
#include <google/protobuf/util/json_util.h>

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "client/cli/text/duration.h"
#include "client/cli/text/enum_word.h"
#include "client/cli/text/instant.h"
#include "client/src/convert_time.h"

namespace skiplane::cli {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

// A copy as the generated type: what a message of a dynamic field holds is known by its name.
template <typename Type>
Type As(const Message& message) {
  Type copy;
  copy.CopyFrom(message);
  return copy;
}

bool IsTime(const FieldDescriptor& field) {
  if (field.cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) return false;
  const absl::string_view name = field.message_type()->full_name();
  return name == "google.protobuf.Duration" || name == "google.protobuf.Timestamp";
}

// Whether its presence is all that it says, as of BulkAction.retry.
bool IsEmptyType(const FieldDescriptor& field) {
  return field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE &&
         field.message_type()->field_count() == 0;
}

std::string TimeText(const Message& message) {
  if (message.GetDescriptor()->full_name() == "google.protobuf.Duration") {
    return DurationText(internal::FromProto(As<google::protobuf::Duration>(message)));
  }
  return FormatInstant(internal::FromProto(As<google::protobuf::Timestamp>(message)));
}

// One value: the field's own, or with an index one of its entries.
class Value {
 public:
  Value(const Message& message, const FieldDescriptor& field, int index)
      : message_(message), field_(field), index_(index) {}

  std::string Text() const {
    const Reflection& get = *message_.GetReflection();
    const FieldDescriptor* const f = &field_;
    const bool one = !field_.is_repeated();
    switch (field_.cpp_type()) {
      case FieldDescriptor::CPPTYPE_INT32:
        return absl::StrCat(one ? get.GetInt32(message_, f)
                                : get.GetRepeatedInt32(message_, f, index_));
      case FieldDescriptor::CPPTYPE_INT64:
        return absl::StrCat(one ? get.GetInt64(message_, f)
                                : get.GetRepeatedInt64(message_, f, index_));
      case FieldDescriptor::CPPTYPE_DOUBLE:
        return absl::StrFormat("%g", get.GetDouble(message_, f));
      case FieldDescriptor::CPPTYPE_BOOL: return get.GetBool(message_, f) ? "yes" : "no";
      case FieldDescriptor::CPPTYPE_ENUM:
        return EnumWord(one ? *get.GetEnum(message_, f)
                            : *get.GetRepeatedEnum(message_, f, index_));
      case FieldDescriptor::CPPTYPE_STRING:
        return one ? get.GetString(message_, f) : get.GetRepeatedString(message_, f, index_);
      case FieldDescriptor::CPPTYPE_MESSAGE:
        return MessageText(one ? get.GetMessage(message_, f)
                               : get.GetRepeatedMessage(message_, f, index_));
      default: return "";
    }
  }

 private:
  std::string MessageText(const Message& value) const {
    if (IsTime(field_)) return TimeText(value);
    if (IsEmptyType(field_)) return "yes";
    if (!field_.is_map()) return ToJson(value);
    return absl::StrCat(FieldText(value, "key"), "=", FieldText(value, "value"));
  }

  const Message& message_;
  const FieldDescriptor& field_;
  const int index_;
};

std::string TextOf(const Message& message, const FieldDescriptor& field) {
  const Reflection& reflection = *message.GetReflection();
  if (!field.is_repeated()) {
    if (field.has_presence() && !reflection.HasField(message, &field)) return "";
    return Value(message, field, 0).Text();
  }
  std::vector<std::string> entries;
  for (int i = 0; i < reflection.FieldSize(message, &field); ++i) {
    entries.push_back(Value(message, field, i).Text());
  }
  return absl::StrJoin(entries, ", ");
}

bool IsNested(const FieldDescriptor& field) {
  return field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE && !field.is_repeated() &&
         !IsTime(field) && !IsEmptyType(field);
}

// Of messages: a table of its own.
bool IsList(const FieldDescriptor& field) {
  return field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE && field.is_repeated() &&
         !field.is_map() && !IsTime(field);
}

void AddFacts(const Message& message, const std::string& prefix, Table& table) {
  for (int i = 0; i < message.GetDescriptor()->field_count(); ++i) {
    const FieldDescriptor& field = *message.GetDescriptor()->field(i);
    const std::string name = absl::StrCat(prefix, field.name());
    if (IsNested(field)) {
      if (!message.GetReflection()->HasField(message, &field)) continue;
      AddFacts(message.GetReflection()->GetMessage(message, &field), absl::StrCat(name, "."),
               table);
      continue;
    }
    if (IsList(field)) continue;
    const std::string text = TextOf(message, field);
    if (!text.empty()) table.Add({name, text});
  }
}

// By its name in Debian 12's protobuf, or by that of newer ones.
template <typename Options>
void PrintZeros(Options* options) {
  if constexpr (requires { options->always_print_primitive_fields; }) {
    options->always_print_primitive_fields = true;
  } else {
    options->always_print_fields_with_no_presence = true;
  }
}

}  // namespace

std::string FieldText(const Message& message, absl::string_view path) {
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(path, absl::MaxSplits('.', 1));
  const FieldDescriptor* const field =
      message.GetDescriptor()->FindFieldByName(std::string(parts.first));
  if (field == nullptr) return "";
  if (parts.second.empty()) return TextOf(message, *field);
  if (!message.GetReflection()->HasField(message, field)) return "";
  return FieldText(message.GetReflection()->GetMessage(message, field), parts.second);
}

Table Facts(const Message& message) {
  Table table({});
  AddFacts(message, "", table);
  return table;
}

std::string ToJson(const Message& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  PrintZeros(&options);
  std::string json;
  const auto status = google::protobuf::util::MessageToJsonString(message, &json, options);
  return status.ok() ? json : "{}";
}

}  // namespace skiplane::cli
