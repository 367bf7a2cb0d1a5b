#include "server/store/headers.h"

#include <nlohmann/json.hpp>

namespace skiplane::store {

std::string HeadersToJson(const model::Headers& headers) {
  nlohmann::json object = nlohmann::json::object();
  for (const auto& [key, value] : headers) object[key] = value;
  return object.dump();
}

model::Headers HeadersFromJson(absl::string_view json) {
  model::Headers headers;
  const nlohmann::json object =
      nlohmann::json::parse(json.begin(), json.end(), nullptr, /*allow_exceptions=*/false);
  if (!object.is_object()) return headers;
  for (const auto& [key, value] : object.items()) {
    if (value.is_string()) headers.emplace_back(key, value.get<std::string>());
  }
  return headers;
}

}  // namespace skiplane::store
