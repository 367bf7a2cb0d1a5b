// Tokens of the next page: of ListQueues and of the other lists. Those of the other lists get the
// right checksum if the first byte says so.
#include "server/rpc/call/list_token.h"

#include <zlib.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/rpc/call/page_token.h"
#include "tests/fuzz/target.h"

namespace skiplane::fuzz {
namespace {

constexpr absl::string_view kScope = "some request";

std::string WithChecksum(absl::string_view body) {
  uLong sum = crc32_z(0, reinterpret_cast<const Bytef*>(body.data()), body.size());
  sum = crc32_z(sum, reinterpret_cast<const Bytef*>(kScope.data()), kScope.size());
  return absl::StrCat(body, ".", absl::Hex(sum, absl::kZeroPad8));
}

void ReadPartsOf(absl::string_view token) {
  constexpr size_t kParts = 3;
  const auto parts = rpc::ReadListToken(token, kScope, kParts);
  if (!parts.ok()) {
    DemandRefusal(parts.status());
    return;
  }
  Demand(parts->size() == kParts, "a token has the parts that were asked for");
  Demand(rpc::WriteListToken(*parts, kScope) == token, "a list's token has one spelling");
  Demand(!rpc::ReadListToken(token, "another request", kParts).ok(),
         "a token is of no other request");
  int64_t first = 0;
  int16_t second = 0;
  int third = 0;
  const absl::Status numbers = rpc::ReadNumbers(*parts, &first, &second, &third);
  if (!numbers.ok()) {
    DemandRefusal(numbers);
    return;
  }
  Demand(first >= 0 && second >= 0 && third >= 0, "numbers of a token are not negative");
}

void ReadListTokens(absl::string_view bytes) {
  const bool is_summed = TakeChoice(&bytes, 2) == 1;
  ReadPartsOf(is_summed ? WithChecksum(bytes) : std::string(bytes));
  const auto name = rpc::DecodePageToken(bytes);
  if (!name.ok()) {
    DemandRefusal(name.status());
  } else {
    Demand(rpc::EncodePageToken(*name) == bytes, "a page's token has one spelling");
  }
  if (bytes.empty()) return;
  const auto back = rpc::DecodePageToken(rpc::EncodePageToken(bytes));
  Demand(back.ok() && *back == bytes, "a page's token holds its name");
}

const Target kListToken("list_token", &ReadListTokens);

}  // namespace
}  // namespace skiplane::fuzz
