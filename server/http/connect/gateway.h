// Answers requests of HTTP: calls of the services by Connect's protocol, and pages. Knows no method
// by name: what may be called, and what it takes, is in the descriptions of the services. Checks
// whom a request is for and which page it comes from first. Thread-safe.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/http/connect/call.h"
#include "server/http/connect/refusal.h"
#include "server/http/handler.h"
#include "server/http/limits.h"
#include "server/http/pages.h"
#include "server/http/site.h"

namespace skiplane::http::connect {

class Gateway : public Handler {
 public:
  struct Options {
    std::vector<std::string> services;  // full names of those that may be called
    Site site;
    Pages pages;
    size_t body_bytes_max = Limits{}.body_bytes;  // of those that came compressed
    // Whether the caller may call methods of `asking` at all, by what the header shows. Asked
    // before the body is read; the services ask again.
    std::function<absl::Status(const Head& head, const Caller& caller)> admit =
        [](const Head& /*head*/, const Caller& /*caller*/) { return absl::OkStatus(); };
    std::vector<std::string> asking = {};  // of `services`
    // Called with the metrics' word for each request that is refused before a service has it.
    std::function<void(absl::string_view reason)> refused = [](absl::string_view /*reason*/) {};
  };

  // `channel` leads to the services, and believes what is said of callers.
  Gateway(std::shared_ptr<rpc::InnerChannel> channel, Options options);

  std::optional<Response> Refuse(const Head& head, const Caller& caller) override;
  void Handle(Request request, std::shared_ptr<Exchange> exchange) override;
  Response Failure(int status, absl::string_view message, const Head& head) override;

 private:
  // The answer to a request that is refused, which counts.
  Response Answer(const Refusal& refusal, const Head& head) const;
  // Nothing if the body is now as the services take it. What it unpacks to is held by `exchange`.
  std::optional<Refusal> Unpack(Request& request, Exchange& exchange) const;
  absl::Status Admit(const google::protobuf::MethodDescriptor& method, const Head& head,
                     const Caller& caller) const;
  // Null if there is none of that name.
  const google::protobuf::MethodDescriptor* MethodOf(absl::string_view path) const;

  const std::shared_ptr<rpc::InnerChannel> channel_;
  const Options options_;
};

}  // namespace skiplane::http::connect
