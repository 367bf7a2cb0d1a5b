#include "server/rpc/call/page_token.h"

#include <gtest/gtest.h>

#include "server/base/reason.h"

namespace skiplane::rpc {
namespace {

TEST(PageToken, ReturnsTheNameItWasMadeOf) {
  const std::vector<std::string> names = {"a", std::string(128, 'z'), "x.y_z-1"};
  for (const std::string& name : names) {
    const auto decoded = DecodePageToken(EncodePageToken(name));
    ASSERT_TRUE(decoded.ok());
    EXPECT_EQ(*decoded, name);
  }
}

TEST(PageToken, NeedsNoEscapingInAUrl) {
  for (int c = 1; c < 256; ++c) {
    const std::string token = EncodePageToken(std::string(5, static_cast<char>(c)));
    EXPECT_EQ(token.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                      "0123456789-_"),
              std::string::npos);
  }
}

TEST(PageToken, RefusesEveryChangedCharacter) {
  const std::string good = EncodePageToken("mail");
  for (size_t i = 0; i < good.size(); ++i) {
    std::string forged = good;
    forged[i] = forged[i] == 'A' ? 'B' : 'A';
    const auto decoded = DecodePageToken(forged);
    EXPECT_EQ(base::FieldOf(decoded.status()), "page_token") << i;
  }
}

TEST(PageToken, RefusesWhatIsCutOrMadeUp) {
  const std::string good = EncodePageToken("mail");
  for (const std::string& forged : {good.substr(1), good.substr(0, good.size() - 1), good + "A",
                                    good + "=", std::string("mail"), std::string("%%%")}) {
    EXPECT_FALSE(DecodePageToken(forged).ok()) << forged;
  }
  EXPECT_FALSE(DecodePageToken(EncodePageToken("")).ok());
}

}  // namespace
}  // namespace skiplane::rpc
