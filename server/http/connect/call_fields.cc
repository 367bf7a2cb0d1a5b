#include "server/http/connect/call_fields.h"

#include <algorithm>
#include <string>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "server/rpc/call/caller.h"

namespace skiplane::http::connect {
namespace {

constexpr size_t kTimeoutDigitsMax = 10;

// gRPC ends the process at a call with metadata that it does not allow.
bool IsName(absl::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return absl::ascii_isdigit(static_cast<unsigned char>(c)) || (c >= 'a' && c <= 'z') ||
           absl::StrContains("-_.", c);
  });
}

bool IsValue(absl::string_view value) {
  return std::all_of(value.begin(), value.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

bool IsForServices(absl::string_view name) {
  if (name == rpc::kCallerAddress || name == rpc::kCallerName || name == rpc::kCallerExpires) {
    return false;
  }
  return name == "authorization" ||
         (absl::StartsWith(name, "skiplane-") && !absl::EndsWith(name, "-bin"));
}

absl::string_view TextOf(const grpc::string_ref& text) { return {text.data(), text.size()}; }

}  // namespace

absl::StatusOr<std::optional<absl::Duration>> TimeoutOf(const Head& head) {
  const size_t count = head.Count("connect-timeout-ms");
  if (count == 0) return std::nullopt;
  const absl::string_view text = head.Find("connect-timeout-ms");
  int64_t milliseconds = 0;
  if (count > 1 || text.size() > kTimeoutDigitsMax || !absl::c_all_of(text, absl::ascii_isdigit) ||
      !absl::SimpleAtoi(text, &milliseconds) || milliseconds == 0) {
    return absl::InvalidArgumentError(
        "Connect-Timeout-Ms must be one positive number of milliseconds with at most ten digits");
  }
  return absl::Milliseconds(milliseconds);
}

void WriteMetadata(const Head& head, const Caller& caller, grpc::ClientContext* context) {
  context->AddMetadata(rpc::kCallerAddress, caller.address);
  if (!caller.name.empty()) context->AddMetadata(rpc::kCallerName, caller.name);
  if (caller.certificate_expires < absl::InfiniteFuture()) {
    context->AddMetadata(rpc::kCallerExpires,
                         absl::StrCat(absl::ToUnixSeconds(caller.certificate_expires)));
  }
  for (const auto& [name, value] : head.fields) {
    if (IsForServices(name) && IsName(name) && IsValue(value)) context->AddMetadata(name, value);
  }
}

void ReadMetadata(const Metadata& metadata, absl::string_view prefix, Fields* fields) {
  for (const auto& [key, value] : metadata) {
    const absl::string_view name = TextOf(key);
    if (absl::StartsWith(name, "grpc-") || !IsName(name)) continue;
    const bool is_binary = absl::EndsWith(name, "-bin");
    std::string text = is_binary ? absl::Base64Escape(TextOf(value)) : std::string(TextOf(value));
    if (IsValue(text)) fields->emplace_back(absl::StrCat(prefix, name), std::move(text));
  }
}

}  // namespace skiplane::http::connect
