#include "jobs/internal/text.h"

#include <gtest/gtest.h>

namespace muster::jobs::text_test {
namespace {

TEST(Text, TheNearestNameThatIsAllowed) {
    EXPECT_EQ(dns1035_from("My_Job!"), "my-job");
    EXPECT_EQ(dns1035_from("0-demo"), "demo");
    EXPECT_EQ(dns1035_from("3d-unet"), "job-3d-unet") << "\"d-unet\" would be another model";
    EXPECT_EQ(dns1035_from("a__b"), "a-b");
    EXPECT_EQ(dns1035_from("42"), "");
    EXPECT_EQ(dns1035_from(""), "");
}

TEST(Text, Choices) {
    EXPECT_EQ(one_of({"a"}), "\"a\"");
    EXPECT_EQ(one_of({"a", "b", "c"}), "\"a\", \"b\" or \"c\"");
    EXPECT_EQ(did_you_mean("Wroker", {"Master", "Worker"}), " (did you mean \"Worker\"?)");
    EXPECT_EQ(did_you_mean("zzz", {"Master", "Worker"}), "");
}

}  // namespace
}  // namespace muster::jobs::text_test
