#include "server/broker/settle/settle_parts.h"

#include "gmock/gmock.h"

namespace skiplane::broker {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<size_t> SizesOfParts(std::vector<SettleItem>& items) {
  std::vector<SettleItem*> pointers;
  for (SettleItem& item : items) pointers.push_back(&item);
  std::vector<size_t> sizes;
  size_t next = 0;
  for (const auto& part : PartsOf(pointers)) {
    sizes.push_back(part.size());
    for (const SettleItem* item : part) EXPECT_EQ(item, pointers[next++]);
  }
  EXPECT_EQ(next, items.size());
  return sizes;
}

TEST(SettleParts, ThoseThatCannotFailAreOne) {
  std::vector<SettleItem> items;
  EXPECT_THAT(SizesOfParts(items), IsEmpty());
  items.resize(1000);
  EXPECT_THAT(SizesOfParts(items), ElementsAre(1000));
}

// A thousand tasks of a megabyte, failed by one call, took longer than a statement may.
TEST(SettleParts, SoManyMayFailInEach) {
  std::vector<SettleItem> items(600);
  for (size_t i = 0; i < items.size(); ++i) {
    items[i].action = i % 2 == 0 ? store::Action::kFail : store::Action::kRetry;
  }
  EXPECT_THAT(SizesOfParts(items), ElementsAre(250, 250, 100));
  for (size_t i = 0; i < 300; ++i) items[2 * i].action = store::Action::kRelease;
  EXPECT_THAT(SizesOfParts(items), ElementsAre(501, 99));
}

}  // namespace
}  // namespace skiplane::broker
