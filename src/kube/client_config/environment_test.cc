#include "kube/client_config/environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::kube::environment_test {
namespace {

using testing::ElementsAre;

TEST(Environment, IsReadByName) {
    const std::vector<std::string> environment = {"AB=1", "A=2=3", "A=4", "C=", "D"};
    EXPECT_EQ(variable_of(environment, "A"), "2=3") << "the first counts";
    EXPECT_EQ(variable_of(environment, "AB"), "1");
    for (const char* name : {"B", "C", "D", ""}) EXPECT_EQ(variable_of(environment, name), "");
}

TEST(Environment, AVariableIsSetOnce) {
    std::vector<std::string> environment = {"A=1", "AB=2", "A=3"};
    set_variable(environment, "A", "4");
    EXPECT_THAT(environment, ElementsAre("AB=2", "A=4"));
}

}  // namespace
}  // namespace muster::kube::environment_test
