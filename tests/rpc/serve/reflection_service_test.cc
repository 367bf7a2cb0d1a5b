// What tools learn of the server's services by grpc.reflection.v1, where that is ours.
#include <gmock/gmock.h>
#include <google/protobuf/descriptor.pb.h>
#include <gtest/gtest.h>

#include "grpc/reflection/v1/reflection.grpc.pb.h"
#include "tests/rpc/front.h"

namespace skiplane::rpc {
namespace {

using ::testing::Contains;
using ::testing::UnorderedElementsAre;
using Request = grpc::reflection::v1::ServerReflectionRequest;
using Response = grpc::reflection::v1::ServerReflectionResponse;

ServerOptions WithReflection() {
  ServerOptions options;
  options.reflection = true;
  return options;
}

// Each step waits for its end.
class Asking {
 public:
  explicit Asking(Front& front)
      : stub_(grpc::reflection::v1::ServerReflection::NewStub(front.channel)),
        stream_(stub_->ServerReflectionInfo(&context_)) {}

  Response Ask(const Request& request) {
    Response response;
    EXPECT_TRUE(stream_->Write(request) && stream_->Read(&response));
    return response;
  }

  // The names of the files that a question about a symbol brings.
  std::vector<std::string> FilesOf(const std::string& symbol) {
    Request request;
    request.set_file_containing_symbol(symbol);
    std::vector<std::string> names;
    const Response response = Ask(request);
    for (const std::string& bytes : response.file_descriptor_response().file_descriptor_proto()) {
      google::protobuf::FileDescriptorProto file;
      EXPECT_TRUE(file.ParseFromString(bytes));
      names.push_back(file.name());
    }
    return names;
  }

 private:
  grpc::ClientContext context_;
  std::unique_ptr<grpc::reflection::v1::ServerReflection::Stub> stub_;
  std::unique_ptr<grpc::ClientReaderWriter<Request, Response>> stream_;
};

TEST(ReflectionService, ListsEveryServiceAndDescribesIt) {
  Front front({}, WithReflection());
  Asking asking(front);
  Request request;
  request.set_list_services("*");
  std::vector<std::string> names;
  const Response listed = asking.Ask(request);
  for (const auto& service : listed.list_services_response().service()) {
    names.push_back(service.name());
    // The health service was once listed and not described, so that grpcurl could not call it.
    if (service.name() != "grpc.reflection.v1alpha.ServerReflection") {
      EXPECT_FALSE(asking.FilesOf(service.name()).empty()) << service.name();
    }
  }
  EXPECT_THAT(names, UnorderedElementsAre("skiplane.v1.BrokerService", "skiplane.v1.AdminService",
                                          "grpc.health.v1.Health",
                                          "grpc.reflection.v1.ServerReflection",
                                          "grpc.reflection.v1alpha.ServerReflection"));
}

TEST(ReflectionService, AFileComesOnceWithAllThatItImports) {
  Front front({}, WithReflection());
  Asking asking(front);
  const std::vector<std::string> files = asking.FilesOf("skiplane.v1.AdminService.CancelTask");
  ASSERT_FALSE(files.empty());
  EXPECT_EQ(files.front(), "skiplane/v1/admin.proto");
  EXPECT_THAT(files, Contains("skiplane/v1/task.proto").Times(1));
  EXPECT_THAT(files, Contains("google/protobuf/duration.proto").Times(1));
  Request request;
  request.set_file_by_filename("skiplane/v1/queue.proto");
  EXPECT_TRUE(asking.Ask(request).has_file_descriptor_response());
}

TEST(ReflectionService, SaysWhatIsNotKnownAndGoesOn) {
  Front front({}, WithReflection());
  Asking asking(front);
  Request request;
  request.set_file_containing_symbol("no.such.Thing");
  EXPECT_EQ(asking.Ask(request).error_response().error_code(), grpc::StatusCode::NOT_FOUND);
  request.mutable_file_containing_extension()->set_containing_type("skiplane.v1.Task");
  EXPECT_EQ(asking.Ask(request).error_response().error_code(), grpc::StatusCode::NOT_FOUND);
  request.set_all_extension_numbers_of_type("skiplane.v1.Task");
  EXPECT_EQ(asking.Ask(request).all_extension_numbers_response().extension_number_size(), 0);
  EXPECT_EQ(asking.Ask(Request()).error_response().error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
  request.set_list_services("");
  EXPECT_TRUE(asking.Ask(request).has_list_services_response());
}

}  // namespace
}  // namespace skiplane::rpc
