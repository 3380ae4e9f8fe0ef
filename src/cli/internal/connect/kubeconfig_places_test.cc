#include "cli/internal/connect/kubeconfig_places.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::cli::kubeconfig_places_test {
namespace {

using testing::ElementsAre;

control_plane::Caller caller(std::vector<std::string> environment) {
    return {.working_dir = "/work", .environment = std::move(environment)};
}

TEST(KubeconfigPlaces, TheFlagThenTheVariableThenTheHomes) {
    const auto flag = kubeconfig_places("k", caller({"KUBECONFIG=/a"}));
    EXPECT_THAT(flag.files, ElementsAre("/work/k"));
    EXPECT_FALSE(flag.missing) << "it was asked for";
    const auto list = kubeconfig_places("", caller({"KUBECONFIG=:/a::b", "HOME=/h"}));
    EXPECT_THAT(list.files, ElementsAre("/a", "/work/b"));
    EXPECT_TRUE(list.all && list.missing);
    const auto home = kubeconfig_places("", caller({"KUBECONFIG=:", "HOME=/h"}));
    EXPECT_THAT(home.files, ElementsAre("/h/.kube/config", "/h/.muster/kubeconfig"));
    EXPECT_FALSE(home.all) << "the first that is there";
}

TEST(KubeconfigPlaces, OneThatCantBeLookedAtIsNotPassedOver) {
    // A name longer than any may be can't be looked at, whoever asks.
    const std::string unreachable = "/" + std::string(300, 'x');
    const auto read = read_kubeconfigs({.files = {unreachable}, .all = true, .missing = true});
    ASSERT_FALSE(read.has_value());
    EXPECT_THAT(read.error().message(), testing::HasSubstr("cannot be read"));
}

}  // namespace
}  // namespace muster::cli::kubeconfig_places_test
