#include "kube/values/read_json.h"

#include <gtest/gtest.h>

#include <string>

namespace muster::kube::read_json_test {
namespace {

std::string nested(std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

TEST(ReadJson, ReadsWhatIsAsDeepAsAnObjectMayBe) {
    EXPECT_TRUE(read_json(R"({"a":1})"));
    EXPECT_FALSE(read_json("{"));
    EXPECT_FALSE(read_json(""));
    EXPECT_TRUE(read_json(nested(kDeepestJson)));
    EXPECT_FALSE(read_json(nested(kDeepestJson + 1)));
    EXPECT_FALSE(read_json(nested(1'000'000)));
}

}  // namespace
}  // namespace muster::kube::read_json_test
