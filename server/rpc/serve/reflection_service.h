// grpc.reflection.v1, which newer tools ask for; gRPC's library has the version before it. Answers
// from the descriptions that are linked into the process. Thread-safe.
#pragma once

#include <string>
#include <vector>

#include "grpc/reflection/v1/reflection.grpc.pb.h"

namespace skiplane::rpc {

class ReflectionService : public grpc::reflection::v1::ServerReflection::CallbackService {
 public:
  // `services`: the full names that are listed.
  explicit ReflectionService(std::vector<std::string> services) : services_(std::move(services)) {}

 private:
  using Request = grpc::reflection::v1::ServerReflectionRequest;
  using Response = grpc::reflection::v1::ServerReflectionResponse;
  class Stream;

  grpc::ServerBidiReactor<Request, Response>* ServerReflectionInfo(
      grpc::CallbackServerContext* context) override;

  Response Answer(const Request& request) const;

  const std::vector<std::string> services_;
};

}  // namespace skiplane::rpc
