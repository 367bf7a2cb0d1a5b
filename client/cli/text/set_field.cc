// The half of field.h that writes.
#include <google/protobuf/descriptor.h>
#include <google/protobuf/duration.pb.h>
#include <google/protobuf/timestamp.pb.h>

#include <type_traits>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "client/cli/base/exit_code.h"
#include "client/cli/text/duration.h"
#include "client/cli/text/enum_word.h"
#include "client/cli/text/field.h"
#include "client/cli/text/instant.h"
#include "client/src/convert_time.h"

namespace skiplane::cli {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

// Of the fields of a type; some have the same name as those of another.
template <typename Type>
using Method = void (Reflection::*)(Message*, const FieldDescriptor*,
                                    std::type_identity_t<Type>) const;

absl::Status Wrong(absl::string_view text, absl::string_view what) {
  return UsageError(absl::StrCat("'", text, "' is not ", what));
}

absl::StatusOr<bool> ParseBool(absl::string_view text) {
  const std::string word = absl::AsciiStrToLower(text);
  if (word == "yes" || word == "true" || word == "t" || word == "1") return true;
  if (word == "no" || word == "false" || word == "f" || word == "0") return false;
  return Wrong(text, "yes or no");
}

// Both the field's own value and, for a repeated one, a further entry.
template <typename Type>
absl::Status Put(Message& message, const FieldDescriptor& field, Type value, Method<Type> set,
                 Method<Type> add) {
  const auto* const reflection = message.GetReflection();
  if (field.is_repeated()) {
    (reflection->*add)(&message, &field, std::move(value));
  } else {
    (reflection->*set)(&message, &field, std::move(value));
  }
  return absl::OkStatus();
}

absl::Status SetMessage(Message& message, const FieldDescriptor& field, absl::string_view text) {
  const absl::string_view type = field.message_type()->full_name();
  const auto* const reflection = message.GetReflection();
  const auto place = [&] {
    return field.is_repeated() ? reflection->AddMessage(&message, &field)
                               : reflection->MutableMessage(&message, &field);
  };
  if (type == "google.protobuf.Duration") {
    const absl::StatusOr<absl::Duration> duration = ParseDuration(text);
    if (!duration.ok()) return duration.status();
    google::protobuf::Duration value;
    internal::ToProto(*duration, &value);
    return place()->CopyFrom(value), absl::OkStatus();
  }
  if (type == "google.protobuf.Timestamp") {
    const absl::StatusOr<absl::Time> time = ParseInstant(text);
    if (!time.ok()) return time.status();
    google::protobuf::Timestamp value;
    internal::ToProto(*time, &value);
    return place()->CopyFrom(value), absl::OkStatus();
  }
  return UsageError(absl::StrCat(field.name(), " is not set by a text"));
}

absl::Status SetOne(Message& message, const FieldDescriptor& field, absl::string_view text) {
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32: {
      int32_t value = 0;
      if (!absl::SimpleAtoi(text, &value)) return Wrong(text, "a whole number");
      return Put(message, field, value, &Reflection::SetInt32, &Reflection::AddInt32);
    }
    case FieldDescriptor::CPPTYPE_INT64: {
      int64_t value = 0;
      if (!absl::SimpleAtoi(text, &value)) return Wrong(text, "a whole number");
      return Put(message, field, value, &Reflection::SetInt64, &Reflection::AddInt64);
    }
    case FieldDescriptor::CPPTYPE_DOUBLE: {
      double value = 0;
      if (!absl::SimpleAtod(text, &value)) return Wrong(text, "a number");
      return Put(message, field, value, &Reflection::SetDouble, &Reflection::AddDouble);
    }
    case FieldDescriptor::CPPTYPE_BOOL: {
      const absl::StatusOr<bool> value = ParseBool(text);
      if (!value.ok()) return value.status();
      return Put(message, field, *value, &Reflection::SetBool, &Reflection::AddBool);
    }
    case FieldDescriptor::CPPTYPE_ENUM: {
      const absl::StatusOr<int> value = ParseEnumWord(*field.enum_type(), text);
      if (!value.ok()) return value.status();
      return Put(message, field, *value, &Reflection::SetEnumValue, &Reflection::AddEnumValue);
    }
    case FieldDescriptor::CPPTYPE_STRING:
      return Put(message, field, std::string(text), &Reflection::SetString,
                 &Reflection::AddString);
    default: return SetMessage(message, field, text);
  }
}

absl::Status SetEntry(Message& message, const FieldDescriptor& field, absl::string_view key,
                      absl::string_view value) {
  Message& entry = *message.GetReflection()->AddMessage(&message, &field);
  const absl::Status status = SetField(entry, "key", key);
  return status.ok() ? SetField(entry, "value", value) : status;
}

}  // namespace

absl::Status SetField(Message& message, absl::string_view path, absl::string_view text) {
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(path, absl::MaxSplits('.', 1));
  const FieldDescriptor* const field =
      message.GetDescriptor()->FindFieldByName(std::string(parts.first));
  if (field == nullptr) return UsageError(absl::StrCat("there is no field ", path));
  if (field->is_map() && !parts.second.empty()) {
    return SetEntry(message, *field, parts.second, text);
  }
  if (!parts.second.empty()) {
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE || field->is_repeated()) {
      return UsageError(absl::StrCat("there is no field ", path));
    }
    return SetField(*message.GetReflection()->MutableMessage(&message, field), parts.second, text);
  }
  if (!field->is_repeated()) return SetOne(message, *field, text);
  message.GetReflection()->ClearField(&message, field);
  for (const absl::string_view entry : absl::StrSplit(text, ',', absl::SkipEmpty())) {
    const absl::Status status = SetOne(message, *field, absl::StripAsciiWhitespace(entry));
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace skiplane::cli
