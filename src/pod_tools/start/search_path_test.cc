#include "pod_tools/start/search_path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pod_tools/start/environment.h"

namespace muster::pod_tools::search_path_test {
namespace {

using testing::ElementsAre;

TEST(SearchPath, GetsAFolderInFrontOnce) {
    EXPECT_EQ(with_first("/m/bin", "/usr/bin:/bin"), "/m/bin:/usr/bin:/bin");
    EXPECT_EQ(with_first("/m/bin", "/m/bin:/bin"), "/m/bin:/bin");
    EXPECT_EQ(with_first("/m/bin", "/m/bin"), "/m/bin");
    EXPECT_EQ(with_first("/m/bin", "/m/bins"), "/m/bin:/m/bins");
    EXPECT_EQ(with_first("/m/bin", "/bin:/m/bin"), "/m/bin:/bin:/m/bin");
    EXPECT_EQ(with_first("/m/python", ""), "/m/python")
        << "an empty entry would be the current one";
}

TEST(SearchPath, HasNamesAndFolders) {
    EXPECT_EQ(file_name("/a/b"), "b");
    EXPECT_EQ(file_name("b"), "b");
    EXPECT_EQ(file_name("/a/"), "");
    EXPECT_EQ(folder_of("/a/b"), "/a");
    EXPECT_EQ(folder_of("/b"), "/");
    EXPECT_EQ(folder_of("b"), ".");
}

TEST(Environment, SetsAVariableInItsPlace) {
    Environment environment{"A=1", "PATHS=no", "PATH=/x=y", "PATH=/second"};
    EXPECT_EQ(variable(environment, "PATH"), "/x=y");
    EXPECT_EQ(variable(environment, "PAT"), std::nullopt);
    EXPECT_EQ(variable({"EMPTY="}, "EMPTY"), "");
    set_variable(environment, "PATH", "/new");
    set_variable(environment, "B", "");
    EXPECT_THAT(environment, ElementsAre("A=1", "PATHS=no", "PATH=/new", "PATH=/second", "B="));
    remove_variable(environment, "PATH");
    EXPECT_THAT(environment, ElementsAre("A=1", "PATHS=no", "B="));
}

}  // namespace
}  // namespace muster::pod_tools::search_path_test
