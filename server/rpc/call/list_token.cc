#include "server/rpc/call/list_token.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <zlib.h>

#include <algorithm>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "server/rpc/call/field.h"

namespace skiplane::rpc {
namespace {

constexpr char kVersion[] = "2";

std::string Checksum(absl::string_view body, absl::string_view scope) {
  uLong sum = crc32_z(0, reinterpret_cast<const Bytef*>(body.data()), body.size());
  sum = crc32_z(sum, reinterpret_cast<const Bytef*>(scope.data()), scope.size());
  return absl::StrCat(absl::Hex(sum, absl::kZeroPad8));
}

}  // namespace

std::string SortedBytes(const google::protobuf::Message& message) {
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    message.SerializeToCodedStream(&coded);
  }
  return absl::StrCat(message.GetTypeName(), bytes);
}

absl::StatusOr<int> ReadPageSize(int wire) {
  if (wire < 0) return InvalidField({"page_size"}, "must not be negative");
  return wire == 0 ? kPageDefault : std::min(wire, kPageMost);
}

absl::Status BadListToken() {
  return InvalidField({"page_token"}, "must be the next_page_token of the same request");
}

std::string WriteListToken(const std::vector<std::string>& parts, absl::string_view scope) {
  std::vector<std::string> escaped{kVersion};
  for (const std::string& part : parts) escaped.push_back(absl::WebSafeBase64Escape(part));
  const std::string body = absl::StrJoin(escaped, ".");
  return absl::StrCat(body, ".", Checksum(body, scope));
}

absl::StatusOr<std::vector<std::string>> ReadListToken(absl::string_view token,
                                                       absl::string_view scope, size_t count) {
  const size_t end = token.rfind('.');
  if (end == absl::string_view::npos) return BadListToken();
  const absl::string_view body = token.substr(0, end);
  if (token.substr(end + 1) != Checksum(body, scope)) return BadListToken();
  const std::vector<std::string> escaped = absl::StrSplit(body, '.');
  if (escaped.size() != count + 1 || escaped.front() != kVersion) return BadListToken();
  std::vector<std::string> parts;
  for (size_t i = 1; i < escaped.size(); ++i) {
    std::string& part = parts.emplace_back();
    if (!absl::WebSafeBase64Unescape(escaped[i], &part)) return BadListToken();
  }
  // Base64 allows for other spellings of the same parts.
  if (WriteListToken(parts, scope) != token) return BadListToken();
  return parts;
}

}  // namespace skiplane::rpc
