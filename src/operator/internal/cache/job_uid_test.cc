#include "operator/internal/cache/job_uid.h"

#include <gtest/gtest.h>

#include <string>
#include <type_traits>
#include <unordered_set>

namespace muster::operators::job_uid_test {
namespace {

static_assert(!std::is_convertible_v<std::string, JobUid>);
static_assert(!std::is_convertible_v<JobUid, std::string>);

TEST(JobUid, ComparesAndHashesAsItsValue) {
    EXPECT_EQ(JobUid("a"), JobUid("a"));
    EXPECT_LT(JobUid("a"), JobUid("b"));
    std::unordered_set<JobUid> uids{JobUid("a"), JobUid("b"), JobUid("a")};
    EXPECT_EQ(uids.size(), 2U);
}

}  // namespace
}  // namespace muster::operators::job_uid_test
