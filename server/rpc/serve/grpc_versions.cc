#include "server/rpc/serve/grpc_versions.h"

#include <string>
#include <utility>

#include <grpc/grpc.h>

#ifdef SKIPLANE_NEWER_GRPC
#include "absl/log/globals.h"
#include "absl/log/initialize.h"
#include "absl/log/log_entry.h"
#include "absl/log/log_sink.h"
#include "absl/log/log_sink_registry.h"
#else
#include <grpc/support/log.h>

#include "server/rpc/serve/reflection_service.h"
#endif

namespace skiplane::rpc {

#ifdef SKIPLANE_NEWER_GRPC

namespace {

class Messages final : public absl::LogSink {
 public:
  explicit Messages(void (*take)(const GrpcMessage&)) : take_(take) {}

  void Send(const absl::LogEntry& said) override {
    take_({absl::LogSeverityName(said.log_severity()), said.source_filename(), said.source_line(),
           said.text_message()});
  }

 private:
  void (*const take_)(const GrpcMessage&);
};

class OwnedCredentials final : public grpc::ServerCredentials {
 public:
  explicit OwnedCredentials(grpc_server_credentials* credentials)
      : grpc::ServerCredentials(credentials) {}
};

}  // namespace

void TakeGrpcMessages(void (*take)(const GrpcMessage&)) {
  // Errors only, as older ones by themselves. What ends the process is on standard error, too.
  static const bool is_taken = [take] {
    absl::SetMinLogLevel(absl::LogSeverityAtLeast::kError);
    absl::SetStderrThreshold(absl::LogSeverityAtLeast::kFatal);
    absl::InitializeLog();
    absl::AddLogSink(new Messages(take));  // for as long as the process
    return true;
  }();
  (void)is_taken;
}

std::unique_ptr<grpc::Service> ReflectionV1(std::vector<std::string> /*services*/) {
  return nullptr;
}

#else

namespace {

void (*taken_by)(const GrpcMessage&) = nullptr;

void Take(gpr_log_func_args* said) {
  taken_by({gpr_log_severity_string(said->severity), said->file, said->line, said->message});
}

class OwnedCredentials final : public grpc::ServerCredentials {
 public:
  explicit OwnedCredentials(grpc_server_credentials* credentials) : credentials_(credentials) {}
  ~OwnedCredentials() override { grpc_server_credentials_release(credentials_); }
  OwnedCredentials(const OwnedCredentials&) = delete;
  OwnedCredentials& operator=(const OwnedCredentials&) = delete;

  void SetAuthMetadataProcessor(
      const std::shared_ptr<grpc::AuthMetadataProcessor>& /*processor*/) override {}

 private:
  int AddPortToServer(const std::string& address, grpc_server* server) override {
    return grpc_server_add_http2_port(server, address.c_str(), credentials_);
  }

  grpc_server_credentials* const credentials_;
};

}  // namespace

void TakeGrpcMessages(void (*take)(const GrpcMessage&)) {
  taken_by = take;
  gpr_set_log_function(&Take);
}

std::unique_ptr<grpc::Service> ReflectionV1(std::vector<std::string> services) {
  return std::make_unique<ReflectionService>(std::move(services));
}

#endif

std::shared_ptr<grpc::ServerCredentials> Owned(grpc_server_credentials* credentials) {
  return std::make_shared<OwnedCredentials>(credentials);
}

}  // namespace skiplane::rpc
