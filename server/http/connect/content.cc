#include "server/http/connect/content.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"

namespace skiplane::http::connect {

std::optional<Form> FormOf(const Head& head, bool is_stream) {
  if (head.Count("content-type") != 1) return std::nullopt;
  absl::string_view type = head.Find("content-type");
  absl::string_view parameters;
  if (const size_t end = type.find(';'); end != absl::string_view::npos) {
    parameters = absl::StripAsciiWhitespace(type.substr(end + 1));
    type = type.substr(0, end);
  }
  type = absl::StripAsciiWhitespace(type);
  const bool is_utf8 = parameters.empty() || absl::EqualsIgnoreCase(parameters, "charset=utf-8") ||
                       absl::EqualsIgnoreCase(parameters, "charset=\"utf-8\"");
  if (!is_utf8) return std::nullopt;
  if (absl::EqualsIgnoreCase(type, is_stream ? "application/connect+json" : "application/json")) {
    return Form::kJson;
  }
  if (absl::EqualsIgnoreCase(type, is_stream ? "application/connect+proto" : "application/proto")) {
    return Form::kProto;
  }
  return std::nullopt;
}

std::string StreamType(Form form) {
  return form == Form::kJson ? "application/connect+json" : "application/connect+proto";
}

std::string TypesTaken(bool is_stream) {
  return is_stream ? "application/connect+json, application/connect+proto"
                   : "application/json, application/proto";
}

std::string EncodingNotTaken(const Head& head, bool is_stream) {
  const absl::string_view name = is_stream ? "connect-content-encoding" : "content-encoding";
  if (head.Count(name) > 1) return "several";  // the same as a list in one field
  const absl::string_view encoding = head.Find(name);
  const bool is_taken = encoding.empty() || absl::EqualsIgnoreCase(encoding, "identity") ||
                        (!is_stream && IsGzip(head));
  return is_taken ? "" : std::string(encoding);
}

std::string EncodingsTaken(bool is_stream) { return is_stream ? "identity" : "gzip, identity"; }

bool IsGzip(const Head& head) {
  return absl::EqualsIgnoreCase(head.Find("content-encoding"), "gzip");
}

}  // namespace skiplane::http::connect
