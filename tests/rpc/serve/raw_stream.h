// A call of any method by its bytes, for services whose .proto files our packages do not bring:
// health and reflection. Each step waits for its end. Not thread-safe.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

namespace skiplane::rpc {

class RawStream {
 public:
  // Sends one message, `bytes`.
  RawStream(const std::shared_ptr<grpc::Channel>& channel, const std::string& method,
            const std::string& bytes);
  // Cancels what is left.
  ~RawStream();

  // The next message; nothing at the end.
  std::optional<std::string> Read();

  // The status. Call it when Read() returned nothing.
  grpc::Status Finish();

 private:
  bool Await();

  grpc::ClientContext context_;
  grpc::CompletionQueue queue_;
  grpc::GenericStub stub_;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> call_;
};

// The status of `service` in grpc.health.v1: 1 is SERVING, 2 is NOT_SERVING; -1 if it is not known.
int HealthOf(const std::shared_ptr<grpc::Channel>& channel, const std::string& service);

// The request of grpc.health.v1.Health/Check and Watch.
std::string HealthRequest(const std::string& service);

}  // namespace skiplane::rpc
