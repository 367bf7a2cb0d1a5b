// The codec of client/examples/encrypted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "aes_gcm_codec.h"

namespace skiplane {
namespace {

const std::string kOld = absl::StrCat("2026-10 ", std::string(64, 'a'), "\n");
const std::string kNew = absl::StrCat("2026-11 ", std::string(64, 'b'), "\n");
const ContentPlace kPlace{.queue = "q", .kind = ContentKind::kPayload};

class AesGcmTest : public testing::Test {
 protected:
  ~AesGcmTest() override { unlink(path_.c_str()); }

  absl::StatusOr<std::shared_ptr<const AesGcmCodec>> Read(const std::string& text,
                                                          mode_t mode = 0640) {
    std::ofstream(path_) << text;
    chmod(path_.c_str(), mode);
    return AesGcmCodec::FromFile(path_);
  }

  std::shared_ptr<const AesGcmCodec> With(const std::string& text) {
    auto codec = Read(text);
    EXPECT_TRUE(codec.ok()) << codec.status();
    return *codec;
  }

  const std::string path_ = testing::TempDir() + "aes_gcm_test_keys";
};

TEST_F(AesGcmTest, WhatIsEncryptedComesBackAndIsNowhereInTheBytes) {
  const auto codec = With(kOld);
  for (const std::string& content :
       {std::string(), std::string("letter"), std::string(1 << 20, 'x')}) {
    const auto encoded = codec->Encode(kPlace, content);
    ASSERT_TRUE(encoded.ok()) << encoded.status();
    EXPECT_EQ(encoded->mark, "aes-256-gcm;key=2026-10");
    EXPECT_EQ(encoded->bytes.size(), content.size() + 28);
    EXPECT_TRUE(content.empty() || encoded->bytes.find(content) == std::string::npos);
    EXPECT_EQ(*codec->Decode(kPlace, encoded->mark, encoded->bytes), content);
    EXPECT_NE(codec->Encode(kPlace, content)->bytes, encoded->bytes) << "each has its own nonce";
  }
}

TEST_F(AesGcmTest, EachByteThatChangesIsNoticed) {
  const auto codec = With(kOld);
  const EncodedContent encoded = *codec->Encode(kPlace, "letter");
  for (size_t i = 0; i < encoded.bytes.size(); ++i) {
    std::string changed = encoded.bytes;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    EXPECT_EQ(codec->Decode(kPlace, encoded.mark, changed).status().code(),
              absl::StatusCode::kDataLoss);
    EXPECT_EQ(codec->Decode(kPlace, encoded.mark, encoded.bytes.substr(0, i)).status().code(),
              absl::StatusCode::kDataLoss);
  }
}

TEST_F(AesGcmTest, ItIsGoodInItsPlaceOnly) {
  const auto codec = With(kOld + absl::StrCat("same ", std::string(64, 'a')));
  const EncodedContent encoded = *codec->Encode(kPlace, "letter");
  const auto code = [&](const ContentPlace& place, const std::string& mark) {
    return codec->Decode(place, mark, encoded.bytes).status().code();
  };
  EXPECT_EQ(code({.queue = "p", .kind = ContentKind::kPayload}, encoded.mark),
            absl::StatusCode::kDataLoss);
  EXPECT_EQ(code({.queue = "q", .kind = ContentKind::kResult}, encoded.mark),
            absl::StatusCode::kDataLoss);
  EXPECT_EQ(code(kPlace, "aes-256-gcm;key=same"), absl::StatusCode::kDataLoss);
  EXPECT_EQ(code(kPlace, ""), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(code(kPlace, "2026-10"), absl::StatusCode::kFailedPrecondition);
}

TEST_F(AesGcmTest, KeysAreReplacedInTwoSteps) {
  const auto before = With(kOld);
  const auto both = With(kNew + kOld);
  const auto after = With(kNew);
  const EncodedContent old_one = *before->Encode(kPlace, "old");
  const EncodedContent new_one = *both->Encode(kPlace, "new");
  EXPECT_EQ(new_one.mark, "aes-256-gcm;key=2026-11");
  EXPECT_EQ(*both->Decode(kPlace, old_one.mark, old_one.bytes), "old");
  EXPECT_EQ(*after->Decode(kPlace, new_one.mark, new_one.bytes), "new");
  const auto missing = after->Decode(kPlace, old_one.mark, old_one.bytes).status();
  EXPECT_EQ(missing.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(missing.message(), testing::HasSubstr("2026-10"));
}

TEST_F(AesGcmTest, ABadFileIsRefusedAndNotRepeated) {
  const std::string key(64, 'c');
  for (const std::string& line : {absl::StrCat("id ", key.substr(1)), absl::StrCat("id ", key, "0"),
                                  absl::StrCat("i d ", key), absl::StrCat("g ", key, " x"), key,
                                  absl::StrCat("id ", std::string(64, 'g')), std::string()}) {
    const auto codec = Read(absl::StrCat(kOld, line, "\n"));
    EXPECT_THAT(codec.status().message(), testing::HasSubstr("line 2")) << line;
    EXPECT_THAT(codec.status().message(), Not(testing::HasSubstr("cccc")));
  }
  EXPECT_THAT(Read(kOld + kOld).status().message(), testing::HasSubstr("repeats"));
  EXPECT_THAT(Read("").status().message(), testing::HasSubstr("no key in"));
  EXPECT_THAT(Read(kOld, 0644).status().message(), testing::HasSubstr("every account"));
  EXPECT_EQ(AesGcmCodec::FromFile("/nonexistent").status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace skiplane
