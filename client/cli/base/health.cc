#include "client/cli/base/health.h"

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/support/byte_buffer.h>

#include <chrono>
#include <future>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cli/base/exit_code.h"
#include "client/cli/text/table.h"

namespace skiplane::cli {
namespace {

constexpr char kMethod[] = "/grpc.health.v1.Health/Check";
constexpr size_t kNameBytesMax = 127;  // whose length is one byte in protobuf

// HealthCheckRequest and HealthCheckResponse as protobuf writes them: a text of field 1, and an
// enumeration of field 1.
std::string RequestOf(const std::string& service) {
  if (service.empty()) return "";
  return absl::StrCat("\x0a", std::string(1, static_cast<char>(service.size())), service);
}

constexpr char kServing[] = "\x08\x01";

std::string TextOf(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  if (!buffer.Dump(&slices).ok()) return "";
  std::string text;
  for (const grpc::Slice& slice : slices) {
    text.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  return text;
}

std::pair<grpc::Status, std::string> Ask(Session& session, const std::string& service) {
  const grpc::Slice slice(RequestOf(service));
  const grpc::ByteBuffer request(&slice, 1);
  grpc::ByteBuffer answer;
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() +
                       absl::ToChronoNanoseconds(session.options().timeout));
  std::promise<grpc::Status> done;
  grpc::GenericStub(session.NextChannel())
      .UnaryCall(&context, kMethod, {}, &request, &answer,
                 [&](grpc::Status status) { done.set_value(std::move(status)); });
  grpc::Status status = done.get_future().get();
  return {std::move(status), TextOf(answer)};
}

}  // namespace

absl::Status CheckHealth(Session& session, const std::string& service) {
  if (service.size() > kNameBytesMax) return UsageError("--service: no service has such a name");
  const auto [status, answer] = Ask(session, service);
  if (status.ok() && answer == kServing) return absl::OkStatus();
  if (status.error_code() == grpc::StatusCode::NOT_FOUND) {
    return absl::FailedPreconditionError(
        absl::StrCat("not serving: the broker has no service '", OneLine(service), "'"));
  }
  if (!status.ok()) {
    return absl::FailedPreconditionError(
        absl::StrCat("not serving: ", Explain(absl::UnavailableError(status.error_message()))));
  }
  return absl::FailedPreconditionError(
      "not serving: the broker drains, or its database is away or takes no writes; its log says "
      "which");
}

}  // namespace skiplane::cli
