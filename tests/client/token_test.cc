// A token that is replaced in its file while a Client lives.
#include "client/src/connect/token.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "skiplane/client.h"
#include "tests/client/fake_broker.h"

namespace skiplane {
namespace {

using internal::Token;

const grpc::Status kRefused(grpc::UNAUTHENTICATED, "has expired");

class TokenFileTest : public testing::Test {
 protected:
  TokenFileTest() { Write("first"); }
  ~TokenFileTest() override { std::filesystem::remove(path_); }

  void Write(const std::string& text) const { std::ofstream(path_) << text << "\r\nmore\n"; }

  ClientOptions Options() const {
    return {.addresses = {broker_.address()}, .token_file = path_};
  }

  const std::string path_ = absl::StrCat(testing::TempDir(), "token_", getpid());
  FakeBroker broker_;
};

TEST_F(TokenFileTest, ANewTokenIsReadWithoutARefusal) {
  const auto token = *Token::Open(Options());
  const Token::Time begin = std::chrono::steady_clock::now();
  Write("second");
  EXPECT_EQ(token->Get(begin), "first") << "the file is not read for each call";
  EXPECT_EQ(token->Get(begin + std::chrono::seconds(2)), "second");
}

TEST_F(TokenFileTest, WhileTheFileSaysNoneTheTokenStays) {
  const auto token = *Token::Open(Options());
  const Token::Time later = std::chrono::steady_clock::now() + std::chrono::hours(1);
  Write("");
  EXPECT_EQ(token->Get(later), "first");
  Write("a b");
  EXPECT_FALSE(token->IsOther("first"));
  std::filesystem::remove(path_);
  EXPECT_FALSE(token->IsOther("first"));
}

TEST_F(TokenFileTest, ACallWhoseTokenIsRefusedIsRepeatedWithTheNewOne) {
  Client client = *Client::Connect(Options());
  Write("second");
  broker_.FailNext("Enqueue", 1, kRefused);
  EXPECT_TRUE(client.Enqueue("q", {}).ok());
  EXPECT_EQ(broker_.authorization, "Bearer second");
  EXPECT_EQ(broker_.enqueues.size(), 2u);
}

TEST_F(TokenFileTest, ACallWhoseTokenIsTheNewestFailsAtOnce) {
  Client client = *Client::Connect(Options());
  broker_.FailNext("Enqueue", 1, kRefused);
  EXPECT_TRUE(absl::IsUnauthenticated(client.Enqueue("q", {}).status()));
  EXPECT_EQ(broker_.enqueues.size(), 1u);
}

TEST_F(TokenFileTest, ATokenInPlaceOfAPathIsNotRepeated) {
  ClientOptions options = Options();
  options.token_file = absl::StrCat("skt_", std::string(43, 'x'));
  const absl::Status refused = Client::Connect(options).status();
  EXPECT_THAT(refused.message(), testing::HasSubstr("cannot read a bearer token"));
  EXPECT_THAT(refused.message(), testing::Not(testing::HasSubstr("xxx")));
}

TEST_F(TokenFileTest, AFileWithoutATokenIsRefused) {
  Write("");
  EXPECT_TRUE(absl::IsFailedPrecondition(Client::Connect(Options()).status()));
  std::filesystem::remove(path_);
  const absl::Status missing = Client::Connect(Options()).status();
  EXPECT_TRUE(absl::IsNotFound(missing));
  EXPECT_THAT(missing.message(), testing::HasSubstr("No such file"));
  ClientOptions both = Options();
  both.token = "fixed";
  EXPECT_TRUE(absl::IsInvalidArgument(Client::Connect(both).status()));
  ClientOptions far = Options();
  far.addresses = {"broker.example:7070"};
  EXPECT_THAT(Client::Connect(far).status().message(), testing::HasSubstr("TLS"));
}

}  // namespace
}  // namespace skiplane
