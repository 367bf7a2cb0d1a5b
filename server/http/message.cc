#include "server/http/message.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace skiplane::http {
namespace {

constexpr absl::string_view ReasonPhrase(int status) {
  switch (status) {
    case 100: return "Continue";
    case 200: return "OK";
    case 204: return "No Content";
    case 303: return "See Other";
    case 304: return "Not Modified";
    case 308: return "Permanent Redirect";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 408: return "Request Timeout";
    case 409: return "Conflict";
    case 413: return "Content Too Large";
    case 415: return "Unsupported Media Type";
    case 429: return "Too Many Requests";
    case 431: return "Request Header Fields Too Large";
    case 499: return "Client Closed Request";
    case 500: return "Internal Server Error";
    case 501: return "Not Implemented";
    case 503: return "Service Unavailable";
    case 504: return "Gateway Timeout";
    default: return "Unknown";
  }
}

// By its status: a length would be that of another answer.
bool IsWithoutBody(int status) { return status == 204 || status == 304; }

}  // namespace

absl::string_view FindField(const Fields& fields, absl::string_view name) {
  for (const auto& [found, value] : fields) {
    if (found == name) return value;
  }
  return {};
}

size_t Head::Count(absl::string_view name) const {
  return static_cast<size_t>(std::count_if(
      fields.begin(), fields.end(), [name](const Field& field) { return field.first == name; }));
}

Response With(Response response, const Fields& further) {
  response.fields.insert(response.fields.end(), further.begin(), further.end());
  return response;
}

std::string HeadText(const Response& response, Framing framing, absl::Time now) {
  std::string text =
      absl::StrCat("HTTP/1.1 ", response.status, " ", ReasonPhrase(response.status), "\r\n");
  absl::StrAppend(&text, "Date: ",
                  absl::FormatTime("%a, %d %b %Y %H:%M:%S GMT", now, absl::UTCTimeZone()), "\r\n");
  if (!response.content_type.empty()) {
    absl::StrAppend(&text, "Content-Type: ", response.content_type, "\r\n");
  }
  for (const auto& [name, value] : response.fields) {
    absl::StrAppend(&text, name, ": ", value, "\r\n");
  }
  if (framing.body == Framing::Body::kChunks) {
    absl::StrAppend(&text, "Transfer-Encoding: chunked\r\n");
  } else if (framing.body == Framing::Body::kLength && !IsWithoutBody(response.status)) {
    absl::StrAppend(&text, "Content-Length: ", response.body.size(), "\r\n");
  }
  if (framing.closes) absl::StrAppend(&text, "Connection: close\r\n");
  // No browser shall take JSON for a page.
  absl::StrAppend(&text, "X-Content-Type-Options: nosniff\r\n\r\n");
  return text;
}

std::string Chunk(absl::string_view bytes) {
  return absl::StrCat(absl::Hex(bytes.size()), "\r\n", bytes, "\r\n");
}

}  // namespace skiplane::http
