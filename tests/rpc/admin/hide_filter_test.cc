// What records of the audit show to whom.
#include "server/rpc/admin/hide_filter.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skiplane::rpc {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kRules[] =
    "allow token:source to read on mail\n"
    "allow token:both to read on mail, letters\n"
    "allow token:payloads to read, read_payload on *\n";

// What that principal sees of a copy from the queue mail to the queue letters.
std::string CopyAsSeenBy(const std::string& principal) {
  const auto rules = access::Rules::Parse(kRules, "rules");
  EXPECT_TRUE(rules.ok()) << rules.status();
  model::AuditRecord record;
  record.queue = "mail";
  record.origin.request_json =
      R"({"task_id": "1-1", "queue": "letters", "stage": "print", "key": "order-7",)"
      R"( "new_content": {"content_type": "text/secret"}})";
  HideFilter(rules->Resolve({principal, {}}), &record);
  return record.origin.request_json;
}

// Who might read the one queue learnt the names of others, and keys there.
TEST(HideFilterTest, WhereACopyWentIsForReadersOfThatQueue) {
  EXPECT_THAT(CopyAsSeenBy("token:source"),
              AllOf(HasSubstr("1-1"), Not(HasSubstr("letters")), Not(HasSubstr("print")),
                    Not(HasSubstr("order-7"))));
  EXPECT_THAT(CopyAsSeenBy("token:both"),
              AllOf(HasSubstr("letters"), HasSubstr("print"), HasSubstr("order-7")));
}

TEST(HideFilterTest, ContentTypesAreForReadersOfPayloads) {
  EXPECT_THAT(CopyAsSeenBy("token:both"), Not(HasSubstr("text/secret")));
  EXPECT_THAT(CopyAsSeenBy("token:payloads"),
              AllOf(HasSubstr("letters"), HasSubstr("text/secret")));
}

}  // namespace
}  // namespace skiplane::rpc
