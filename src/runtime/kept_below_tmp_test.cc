#include "runtime/kept_below_tmp.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::runtime::kept_below_tmp_test {
namespace {

using ::testing::ElementsAre;

TEST(KeptBelowTmp, IsNothingThatStepsOutOfIt) {
    EXPECT_TRUE(find_kept_below_tmp({"HOME=/tmp/../etc", "PATH=/tmp/../usr/bin:/tmp/.."}, "/tmp/..")
                    .empty());
}

TEST(KeptBelowTmp, IsTheOuterOfDirectoriesInEachOther) {
    std::vector<std::string> kept;
    for (const char* path : {"/tmp/a/b", "/tmp/ab", "/tmp/a/", "/tmp/a/c", "/usr/bin", "/tmp"})
        keep_below_tmp(kept, path);
    EXPECT_THAT(kept, ElementsAre("/tmp/ab", "/tmp/a"));
}

}  // namespace
}  // namespace muster::runtime::kept_below_tmp_test
