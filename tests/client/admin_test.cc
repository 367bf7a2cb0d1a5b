// What operators call, against a broker that answers every first call as UNAVAILABLE.
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server_builder.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/src/access.h"
#include "client/src/call.h"
#include "skiplane/client.h"
#include "skiplane/v1/admin.grpc.pb.h"

namespace skiplane {
namespace {

using internal::AdminMethods;

// Calls come one after the other.
class FakeAdmin : public v1::AdminService::Service {
 public:
  std::vector<std::string> request_ids;

 private:
  grpc::Status PauseQueue(grpc::ServerContext*, const v1::PauseQueueRequest* request,
                          v1::PauseQueueResponse*) override {
    return Note(*request);
  }
  grpc::Status RescheduleTask(grpc::ServerContext*, const v1::RescheduleTaskRequest* request,
                              v1::RescheduleTaskResponse*) override {
    return Note(*request);
  }
  template <typename Request>
  grpc::Status Note(const Request& request) {
    request_ids.push_back(request.request_id());
    return request_ids.size() % 2 == 1 ? grpc::Status(grpc::UNAVAILABLE, "away") : grpc::Status();
  }
};

class AdminTest : public testing::Test {
 protected:
  AdminTest() {
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    builder.RegisterService(&admin_);
    server_ = builder.BuildAndStart();
    client_ = *Client::Connect({.addresses = {"127.0.0.1:" + std::to_string(port)},
                                .backoff = absl::Milliseconds(1)});
  }
  const std::vector<std::string>& request_ids() const { return admin_.request_ids; }

  FakeAdmin admin_;
  std::unique_ptr<grpc::Server> server_;
  std::optional<Client> client_;
};

TEST_F(AdminTest, AChangeIsRepeatedUnderOneRequestId) {
  ASSERT_TRUE(client_->PauseQueue("q").ok());
  ASSERT_TRUE(client_->PauseQueue("q").ok());
  ASSERT_EQ(request_ids().size(), 4u);
  EXPECT_EQ(request_ids()[0].size(), 32u);
  EXPECT_EQ(request_ids()[0], request_ids()[1]);
  EXPECT_EQ(request_ids()[2], request_ids()[3]);
  EXPECT_NE(request_ids()[0], request_ids()[2]);
}

TEST_F(AdminTest, AChangeOfTheCommandLineIsRepeatedUnderOneRequestId) {
  for (const char* given : {"", "mine"}) {
    v1::RescheduleTaskRequest request;
    request.set_request_id(given);
    const auto answer = internal::Call<v1::RescheduleTaskRequest, v1::RescheduleTaskResponse>(
        internal::Access::ConnectionOf(*client_), request, &AdminMethods::RescheduleTask);
    ASSERT_TRUE(answer.ok()) << answer.status();
  }
  EXPECT_THAT(request_ids(), testing::ElementsAre(testing::SizeIs(32), request_ids()[0], "mine",
                                                  "mine"));
}

static_assert(internal::HasRequestId<v1::StartBulkOperationRequest>);
static_assert(!internal::HasRequestId<v1::GetTaskRequest>);

}  // namespace
}  // namespace skiplane
