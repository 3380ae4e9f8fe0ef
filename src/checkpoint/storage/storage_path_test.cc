#include "checkpoint/storage/storage_path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::checkpoint::storage_path_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(StoragePath, HasParts) {
    EXPECT_THAT(parts_of("").value(), IsEmpty());
    EXPECT_THAT(parts_of("LATEST").value(), ElementsAre("LATEST"));
    EXPECT_THAT(parts_of(".muster/1500.3.17/a b").value(),
                ElementsAre(".muster", "1500.3.17", "a b"));
    EXPECT_TRUE(parts_of(std::string(255, 'x')));
}

TEST(StoragePath, ThatLeavesTheRootIsRefused) {
    using namespace std::string_view_literals;
    const struct {
        std::string path;
        const char* why;
    } cases[] = {
        {"/etc/passwd", "empty"},
        {"1000//a", "empty"},
        {"1000/", "empty"},
        {"/", "empty"},
        {".", "'.' or '..'"},
        {"..", "'.' or '..'"},
        {"1000/../../a", "'.' or '..'"},
        {"1000/.", "'.' or '..'"},
        {std::string("a\0b"sv), "zero byte"},
        {"1000/" + std::string(256, 'x'), "longer than 255"},
    };
    for (const auto& [path, why] : cases) {
        const auto parts = parts_of(path);
        ASSERT_FALSE(parts) << path;
        EXPECT_EQ(parts.error().code(), Code::kInvalid);
        EXPECT_THAT(parts.error().message(), HasSubstr(why)) << path;
    }
    EXPECT_THAT(parts_of("/\x1b[2J").error().message(), HasSubstr("\\x1b")) << "a terminal is safe";
}

TEST(StoragePath, IsTakenApartAndPutTogether) {
    EXPECT_EQ(directory_of("1000/rank_00000.pt"), "1000");
    EXPECT_EQ(directory_of("a/b/c"), "a/b");
    EXPECT_EQ(directory_of("LATEST"), "");
    EXPECT_EQ(name_of_path("1000/rank_00000.pt"), "rank_00000.pt");
    EXPECT_EQ(name_of_path("LATEST"), "LATEST");
    EXPECT_EQ(path_in("", "LATEST"), "LATEST");
    EXPECT_EQ(path_in("a/b", "c"), "a/b/c");
    EXPECT_TRUE(is_within("1000/a", "1000"));
    EXPECT_TRUE(is_within("1000", "1000"));
    EXPECT_TRUE(is_within("1000", ""));
    EXPECT_FALSE(is_within("10000", "1000"));
    EXPECT_FALSE(is_within("100", "1000"));
}

}  // namespace
}  // namespace muster::checkpoint::storage_path_test
