#include "base/strong.h"

#include <gtest/gtest.h>

#include <string>
#include <type_traits>
#include <unordered_set>

namespace muster {
namespace {

using PodName = Strong<struct PodNameTag, std::string>;
using JobName = Strong<struct JobNameTag, std::string>;

static_assert(!std::is_convertible_v<PodName, JobName>);
static_assert(!std::is_convertible_v<std::string, PodName>);

TEST(StrongTest, ComparesAndHashesAsItsValue) {
    EXPECT_EQ(PodName("a"), PodName("a"));
    EXPECT_LT(PodName("a"), PodName("b"));
    std::unordered_set<PodName> names{PodName("a"), PodName("b"), PodName("a")};
    EXPECT_EQ(names.size(), 2u);
}

}  // namespace
}  // namespace muster
