#include "server/pg/params.h"

#include <limits>

#include "gmock/gmock.h"
#include "tests/pg/session_harness.h"

namespace skiplane::pg {
namespace {

using ::testing::HasSubstr;

constexpr Uuid kUuid = {0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77,
                        0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff};
constexpr char kUuidText[] = "00112233-4455-6677-8899-aabbccddeeff";

class ParamsTest : public testing::SessionHarness {
 protected:
  Rows Ask(const char* text, const Params& params) {
    name_ = absl::StrCat("ask_", ++count_);
    return testing::Required(session_->Run({name_.c_str(), text}, params));
  }

  std::unique_ptr<Session> session_ = Open();
  std::string name_;
  int count_ = 0;
};

TEST_F(ParamsTest, ScalarsOfEveryTypeComeBack) {
  const absl::Time time = absl::FromUnixMicros(1700000000123456);
  const Rows rows = Ask(
      "SELECT $1::bool, $2::int2, $3::int4, $4::int8, $5::float8, $6::text, $7::bytea, $8::uuid, "
      "(extract(epoch from $9::timestamptz) * 1000000)::int8",
      Params()
          .Bool(true)
          .Int2(-2)
          .Int4(std::numeric_limits<int32_t>::min())
          .Int8(std::numeric_limits<int64_t>::min())
          .Float8(-0.1)
          .Text("ä 'quoted' \\ text")
          .Bytea(absl::string_view("\0\1\xff", 3))
          .UuidValue(kUuid)
          .Timestamp(time));
  ASSERT_EQ(rows.size(), 1);
  EXPECT_TRUE(rows.Bool(0, 0));
  EXPECT_EQ(rows.Int(0, 1), -2);
  EXPECT_EQ(rows.Int(0, 2), std::numeric_limits<int32_t>::min());
  EXPECT_EQ(rows.Int(0, 3), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(rows.Float(0, 4), -0.1);
  EXPECT_EQ(rows.Text(0, 5), "ä 'quoted' \\ text");
  EXPECT_EQ(rows.Bytea(0, 6), std::string("\0\1\xff", 3));
  EXPECT_EQ(rows.UuidValue(0, 7), kUuid);
  EXPECT_EQ(rows.Text(0, 7), kUuidText);
  EXPECT_EQ(rows.Micros(0, 8), time);
}

TEST_F(ParamsTest, EmptyTextAndByteaAreNotNull) {
  const Rows rows = Ask("SELECT $1::text, $2::bytea, $1::text IS NULL, $2::bytea IS NULL",
                        Params().Text("").Bytea(""));
  EXPECT_FALSE(rows.IsNull(0, 0));
  EXPECT_FALSE(rows.IsNull(0, 1));
  EXPECT_EQ(rows.Text(0, 0), "");
  EXPECT_EQ(rows.Bytea(0, 1), "");
  EXPECT_FALSE(rows.Bool(0, 2));
  EXPECT_FALSE(rows.Bool(0, 3));
}

TEST_F(ParamsTest, NullColumnsAreNull) {
  const Rows rows = Ask("SELECT NULL::bytea, NULL::text", Params());
  EXPECT_TRUE(rows.IsNull(0, 0));
  EXPECT_EQ(rows.Bytea(0, 0), "");
  EXPECT_EQ(rows.Text(0, 1), "");
}

TEST_F(ParamsTest, ArraysKeepTheirOrderAndValues) {
  const bool bools[] = {true, false};
  const int16_t int2s[] = {-1, 2};
  const int32_t int4s[] = {-3, 4};
  const int64_t int8s[] = {-5, std::numeric_limits<int64_t>::max()};
  const absl::string_view texts[] = {"a,{}\"", ""};
  const absl::string_view byteas[] = {absl::string_view("\0\xff", 2), ""};
  const Uuid uuids[] = {kUuid, Uuid{}};
  const Tid tids[] = {{7, 9}, {4294967295, 65535}};
  const Rows rows = Ask(
      "SELECT * FROM unnest($1::bool[], $2::int2[], $3::int4[], $4::int8[], $5::text[], "
      "$6::bytea[], $7::uuid[], $8::tid[])",
      Params()
          .BoolArray(bools)
          .Int2Array(int2s)
          .Int4Array(int4s)
          .Int8Array(int8s)
          .TextArray(texts)
          .ByteaArray(byteas)
          .UuidArray(uuids)
          .TidArray(tids));
  ASSERT_EQ(rows.size(), 2);
  for (int i = 0; i < 2; ++i) {
    SCOPED_TRACE(i);
    EXPECT_EQ(rows.Bool(i, 0), bools[i]);
    EXPECT_EQ(rows.Int(i, 1), int2s[i]);
    EXPECT_EQ(rows.Int(i, 2), int4s[i]);
    EXPECT_EQ(rows.Int(i, 3), int8s[i]);
    EXPECT_EQ(rows.Text(i, 4), texts[i]);
    EXPECT_EQ(rows.Bytea(i, 5), byteas[i]);
    EXPECT_EQ(rows.UuidValue(i, 6), uuids[i]);
    EXPECT_EQ(rows.TidValue(i, 7).block, tids[i].block);
    EXPECT_EQ(rows.TidValue(i, 7).offset, tids[i].offset);
  }
}

TEST_F(ParamsTest, ArraysHoldNullsAndInfiniteTimes) {
  const std::optional<absl::string_view> texts[] = {"x", std::nullopt, "", std::nullopt};
  const absl::Time time = absl::FromUnixMicros(-1);
  const std::optional<absl::Time> times[] = {std::nullopt, absl::InfinitePast(),
                                             absl::InfiniteFuture(), time};
  const Rows rows = Ask(
      "SELECT a, b::text, CASE WHEN isfinite(b) THEN (extract(epoch from b) * 1000000)::int8 END "
      "FROM unnest($1::text[], $2::timestamptz[]) AS u(a, b)",
      Params().OptionalTextArray(texts).TimestampArray(times));
  ASSERT_EQ(rows.size(), 4);
  EXPECT_EQ(rows.Text(0, 0), "x");
  EXPECT_TRUE(rows.IsNull(1, 0));
  EXPECT_FALSE(rows.IsNull(2, 0));
  EXPECT_TRUE(rows.IsNull(3, 0));
  EXPECT_TRUE(rows.IsNull(0, 1));
  EXPECT_EQ(rows.Text(1, 1), "-infinity");
  EXPECT_EQ(rows.Text(2, 1), "infinity");
  EXPECT_EQ(rows.Micros(3, 2), time);
}

TEST_F(ParamsTest, EmptyArraysOfEveryTypeAreArrays) {
  const Rows rows = Ask(
      "SELECT cardinality($1::bool[]) + cardinality($2::int2[]) + cardinality($3::int4[]) + "
      "cardinality($4::int8[]) + cardinality($5::text[]) + cardinality($6::text[]) + "
      "cardinality($7::bytea[]) + cardinality($8::uuid[]) + cardinality($9::tid[]) + "
      "cardinality($10::timestamptz[])",
      Params()
          .BoolArray({})
          .Int2Array({})
          .Int4Array({})
          .Int8Array({})
          .TextArray({})
          .OptionalTextArray({})
          .ByteaArray({})
          .UuidArray({})
          .TidArray({})
          .TimestampArray({}));
  EXPECT_EQ(rows.Int(0, 0), 0);
}

TEST_F(ParamsTest, AMebibyteOfBytesComesBackUnchanged) {
  std::string bytes(1 << 20, '\0');
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 31 + (i >> 8));
  const absl::string_view both[] = {bytes, "end"};
  const Rows rows = Ask("SELECT $1::bytea, ($2::bytea[])[1], octet_length($1::bytea)",
                        Params().Bytea(bytes).ByteaArray(both));
  EXPECT_EQ(rows.Int(0, 2), 1 << 20);
  EXPECT_TRUE(rows.Bytea(0, 0) == bytes);
  EXPECT_TRUE(rows.Bytea(0, 1) == bytes);
}

TEST_F(ParamsTest, ACopyOfTheRowsOutlivesTheSession) {
  Rows copy;
  EXPECT_TRUE(copy.empty());
  {
    const Rows rows = Ask("SELECT 'kept'::text", Params());
    copy = rows;
  }
  session_.reset();
  EXPECT_EQ(copy.Text(0, 0), "kept");
}

using RowsDeathTest = ParamsTest;

TEST_F(RowsDeathTest, AWrongCellOrTypeEndsTheProcess) {
  ::testing::GTEST_FLAG(death_test_style) = "threadsafe";
  const Rows rows = Ask("SELECT 'seven'::text", Params());
  EXPECT_DEATH(rows.Int(0, 0), HasSubstr("wrong_column_type"));
  EXPECT_DEATH(rows.Text(1, 0), HasSubstr("wrong_column_type"));
}

}  // namespace
}  // namespace skiplane::pg
