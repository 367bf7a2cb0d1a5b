#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "client/cli/base/exit_code.h"
#include "client/cli/source/sources.h"
#include "client/cli/text/utf8.h"
#include "nlohmann/json.hpp"

namespace skiplane::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string TextOf(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

class JsonLines : public RecordSource {
 public:
  JsonLines(std::istream& in, Renames renames) : in_(in), renames_(std::move(renames)) {}

  absl::StatusOr<std::optional<Record>> Next() override {
    std::string line;
    while (std::getline(in_, line)) {
      ++line_;
      if (absl::StripAsciiWhitespace(line).empty()) continue;
      Record record{.place = absl::StrCat("line ", line_)};
      if (const absl::Status status = Read(line, record); !status.ok()) {
        return UsageError(absl::StrCat(record.place, ": ", status.message()));
      }
      return record;
    }
    return std::nullopt;
  }

 private:
  absl::Status Read(const std::string& line, Record& record) const {
    const std::string fault = Utf8Fault(line);
    if (!fault.empty()) return UsageError(absl::StrCat(fault, ", which JSON must be"));
    const Json object = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!object.is_object()) return UsageError("not a JSON object");
    for (const auto& [name, value] : object.items()) {
      if (value.is_null()) continue;
      const absl::Status status = AddMember(name, value, record);
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }

  absl::Status AddMember(const std::string& name, const Json& value, Record& record) const {
    if (name == "headers" && !renames_.contains(name)) {
      if (!value.is_object()) return UsageError("headers: not an object");
      for (const auto& [key, text] : value.items()) {
        record.fields.emplace_back(absl::StrCat("headers.", key), TextOf(text));
      }
      return absl::OkStatus();
    }
    const absl::StatusOr<std::string> field = FieldOf(name, renames_);
    if (!field.ok()) return field.status();
    if (*field == "-") return absl::OkStatus();
    if (*field != "payload" && value.is_structured()) {
      return UsageError(absl::StrCat(name, ": not a text or a number"));
    }
    record.fields.emplace_back(*field, TextOf(value));
    return absl::OkStatus();
  }

  std::istream& in_;
  const Renames renames_;
  size_t line_ = 0;
};

}  // namespace

std::unique_ptr<RecordSource> FromJsonLines(std::istream& in, Renames renames) {
  return std::make_unique<JsonLines>(in, std::move(renames));
}

}  // namespace skiplane::cli
