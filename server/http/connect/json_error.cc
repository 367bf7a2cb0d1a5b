#include "server/http/connect/json_error.h"

#include <array>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "server/base/reason.h"

namespace skiplane::http::connect {
namespace {

// Protobuf says "(path): invalid value 7 for type TYPE_BYTES", or "(path) name: what is wrong".
constexpr absl::string_view kValue = ": invalid value ";
constexpr absl::string_view kType = " for type ";
constexpr absl::string_view kOneof = "oneof";

constexpr std::array<std::pair<absl::string_view, absl::string_view>, 3> kExamples = {
    {{"bytes", ", in base64: \"aGVsbG8=\""},
     {"google.protobuf.Duration", ": \"1.5s\""},
     {"google.protobuf.Timestamp", ": \"2026-11-22T10:00:00Z\""}}};

// As it is written in a .proto.
std::string TypeName(absl::string_view type) {
  if (absl::ConsumePrefix(&type, "TYPE_")) return absl::AsciiStrToLower(type);
  return std::string(absl::StripPrefix(type, "type.googleapis.com/"));
}

// Of an enum what it may be, but for its zero, which no caller needs to say.
std::string NamesOf(const std::string& type) {
  const auto* const found =
      google::protobuf::DescriptorPool::generated_pool()->FindEnumTypeByName(type);
  if (found == nullptr) return "";
  std::string names;
  for (int i = 1; i < found->value_count(); ++i) {
    absl::StrAppend(&names, i == 1 ? ": " : ", ", found->value(i)->name());
  }
  return names;
}

std::string WhyNot(absl::string_view value, absl::string_view type) {
  if (type == kOneof) return std::string(value);  // it names two fields, and holds no value
  const std::string name = TypeName(type);
  std::string why = absl::StrCat("is not written as JSON has a value of type ", name);
  for (const auto& [known, example] : kExamples) {
    if (known == name) absl::StrAppend(&why, example);
  }
  return absl::StrCat(why, NamesOf(name));
}

absl::Status Blaming(absl::string_view path, absl::string_view why,
                     const google::protobuf::Descriptor& type) {
  if (!path.empty()) return base::InvalidField(path, why);
  return base::Refuse(absl::StatusCode::kInvalidArgument, "INVALID_FIELD",
                      absl::StrCat("the body is no ", type.full_name(), " in JSON: ", why));
}

}  // namespace

absl::Status JsonRefusal(absl::string_view said, const google::protobuf::Descriptor& type) {
  absl::string_view path;
  if (const size_t end = said.find(')'); absl::StartsWith(said, "(") && end != said.npos) {
    path = said.substr(1, end - 1);
    said.remove_prefix(end + 1);
  }
  const size_t type_at = said.rfind(kType);
  if (absl::ConsumePrefix(&said, kValue) && type_at != said.npos) {
    const size_t value_bytes = type_at - kValue.size();
    const std::string why =
        WhyNot(said.substr(0, value_bytes), said.substr(value_bytes + kType.size()));
    return Blaming(path, why, type);
  }
  if (absl::StrContains(said, "Repeated map key")) return Blaming(path, "has a key twice", type);
  return Blaming(path, "it is not as protobuf defines it", type);
}

}  // namespace skiplane::http::connect
