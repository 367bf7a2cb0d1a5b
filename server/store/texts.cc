#include "server/store/texts.h"

#include <nlohmann/json.hpp>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"

namespace skiplane::store {

std::optional<absl::string_view> IfAny(absl::string_view text) {
  if (text.empty()) return std::nullopt;
  return text;
}

std::vector<int64_t> NumbersOf(absl::string_view array) {
  std::vector<int64_t> numbers;
  array = array.substr(1, array.size() - 2);
  for (absl::string_view part : absl::StrSplit(array, ',', absl::SkipEmpty())) {
    int64_t number = 0;
    if (absl::SimpleAtoi(part, &number)) numbers.push_back(number);
  }
  return numbers;
}

std::string HeadersToJson(const model::Headers& headers) {
  nlohmann::json object = nlohmann::json::object();
  for (const auto& [key, value] : headers) object[key] = value;
  return object.dump();
}

void HeadersColumn::Add(const model::Headers& headers) {
  views.emplace_back();
  if (!headers.empty()) views.back() = texts.emplace_back(HeadersToJson(headers));
}

namespace {

nlohmann::json Parsed(absl::string_view json) {
  return nlohmann::json::parse(json.begin(), json.end(), nullptr, /*allow_exceptions=*/false);
}

model::Headers HeadersOf(const nlohmann::json& object) {
  model::Headers headers;
  if (!object.is_object()) return headers;
  for (const auto& [key, value] : object.items()) {
    if (value.is_string()) headers.emplace_back(key, value.get<std::string>());
  }
  return headers;
}

}  // namespace

model::Headers HeadersFromJson(absl::string_view json) { return HeadersOf(Parsed(json)); }

std::vector<std::string> TextsFromJson(absl::string_view json) {
  std::vector<std::string> texts;
  if (json.empty()) return texts;
  for (const nlohmann::json& text : Parsed(json)) {
    texts.push_back(text.is_string() ? text.get<std::string>() : "");
  }
  return texts;
}

std::vector<model::Headers> HeadersOfEach(absl::string_view json) {
  std::vector<model::Headers> headers;
  if (json.empty()) return headers;
  for (const nlohmann::json& each : Parsed(json)) headers.push_back(HeadersOf(each));
  return headers;
}

}  // namespace skiplane::store
