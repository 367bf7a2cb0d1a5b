#include "server/http/connect/codec.h"

#include <google/protobuf/util/json_util.h>
#include <google/protobuf/util/type_resolver.h>
#include <google/protobuf/util/type_resolver_util.h>

#include "absl/strings/str_cat.h"
#include "server/base/status_macros.h"
#include "server/http/connect/json_error.h"
#include "server/http/connect/strict_json.h"

namespace skiplane::http::connect {
namespace {

namespace util = google::protobuf::util;

constexpr char kHost[] = "type.googleapis.com";

util::TypeResolver* Resolver() {
  static util::TypeResolver* const resolver = util::NewTypeResolverForDescriptorPool(
      kHost, google::protobuf::DescriptorPool::generated_pool());
  return resolver;
}

std::string UrlOf(const google::protobuf::Descriptor& type) {
  return absl::StrCat(kHost, "/", type.full_name());
}

}  // namespace

absl::StatusOr<std::string> ToBytes(std::string body, Form form,
                                    const google::protobuf::Descriptor& type) {
  if (form == Form::kProto) return body;
  RETURN_IF_ERROR(CheckJson(body, type));
  std::string bytes;
  const auto status = util::JsonToBinaryString(Resolver(), UrlOf(type), body, &bytes);
  if (status.ok()) return bytes;
  return JsonRefusal(std::string(status.message()), type);
}

absl::StatusOr<std::string> FromBytes(std::string bytes, Form form,
                                      const google::protobuf::Descriptor& type) {
  if (form == Form::kProto) return bytes;
  std::string json;
  const auto status = util::BinaryToJsonString(Resolver(), UrlOf(type), bytes, &json);
  if (status.ok()) {
    json.shrink_to_fit();  // it was doubled as it grew, and may be kept for a slow reader
    return json;
  }
  return absl::InternalError(
      absl::StrCat("an answer is no ", type.full_name(), ": ", std::string(status.message())));
}

}  // namespace skiplane::http::connect
