// Streams end by themselves before their connection is cut as too old.
#include "gtest/gtest.h"
#include "tests/rpc/front.h"

namespace skiplane::rpc {
namespace {

// The age of streams follows from that of connections.
ServerOptions SoonOld() {
  ServerOptions options;
  options.limits.connection_age = absl::Milliseconds(200);
  return options;
}

// A stream on which nobody says anything more is told, and ends with OK. False if it did not hear.
template <typename Response, typename Stream>
bool IsToldToDrain(Stream& stream) {
  bool is_draining = false;
  for (Response response; stream.Read(&response);) is_draining |= response.draining();
  return is_draining && stream.Finish().ok();
}

std::unique_ptr<grpc::ClientContext> Context() {
  auto context = std::make_unique<grpc::ClientContext>();
  context->set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(30));
  return context;
}

TEST(StreamAgeTest, AProducerThatSaysNothingIsToldThatItsStreamIsOld) {
  Front front({}, SoonOld());
  const auto context = Context();
  const auto stream = front.stub->Produce(context.get());
  EXPECT_TRUE(IsToldToDrain<v1::ProduceResponse>(*stream));
}

TEST(StreamAgeTest, AWorkerThatSaysNothingIsToldThatItsStreamIsOld) {
  Front front({}, SoonOld());
  const auto context = Context();
  const auto stream = front.stub->Work(context.get());
  v1::WorkRequest request;
  request.mutable_hello()->set_worker_id("w");
  request.mutable_hello()->add_queues()->set_name("q");
  request.set_credit(1);
  ASSERT_TRUE(stream->Write(request));
  EXPECT_TRUE(IsToldToDrain<v1::WorkResponse>(*stream));
}

}  // namespace
}  // namespace skiplane::rpc
