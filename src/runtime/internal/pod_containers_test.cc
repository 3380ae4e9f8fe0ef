#include "runtime/internal/pod_containers.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "kube/objects/codec.h"
#include "runtime/internal/run_id.h"

namespace muster::runtime::pod_containers_test {
namespace {

std::shared_ptr<const kube::Pod> pod_with(const std::string& ephemeral) {
    auto pod = kube::decode<kube::Pod>(json::parse(
        R"({"spec":{"initContainers":[{"name":"i"}],"containers":[{"name":"a"},{"name":"b"}],
            "ephemeralContainers":)" +
        ephemeral + "}}"));
    EXPECT_TRUE(pod);
    return std::make_shared<const kube::Pod>(*pod);
}

TEST(PodContainers, HaveOneOrder) {
    const PodContainers containers(pod_with(R"([{"name":"e","command":["ps"]}])"));
    ASSERT_EQ(containers.size(), 4u);
    EXPECT_EQ(containers.at(0).name, "i");
    EXPECT_EQ(containers.at(2).name, "b");
    EXPECT_EQ(containers.at(3).name, "e");
    EXPECT_EQ(containers.path(0), "spec.initContainers[0]");
    EXPECT_EQ(containers.path(2), "spec.containers[1]");
    EXPECT_EQ(containers.path(3), "spec.ephemeralContainers[0]");
    EXPECT_FALSE(containers.is_ephemeral(2));
    EXPECT_TRUE(containers.is_ephemeral(3));
}

TEST(PodContainers, EphemeralOnesAreAddedAtTheEndWhateverTheirPlaceInTheList) {
    PodContainers containers(pod_with(R"([{"name":"e","command":["ps"]}])"));
    const kube::Container& first = containers.at(3);
    EXPECT_FALSE(containers.update(pod_with(R"([{"name":"e","command":["ps"]}])")));
    EXPECT_TRUE(containers.update(pod_with(R"([{"name":"f"},{"name":"e","command":["ps"]}])")));
    EXPECT_EQ(containers.size(), 5u);
    EXPECT_EQ(&containers.at(3), &first);
    EXPECT_EQ(containers.at(4).name, "f");
    EXPECT_FALSE(containers.update(pod_with("[]")));
    EXPECT_EQ(containers.size(), 5u);
}

TEST(PodContainers, AnEphemeralOneWithoutACommandIsAShell) {
    const auto made = ephemeral_containers_of(
        pod_with(R"([{"name":"a"},{"name":"b","command":["ps"]},{"name":"c","args":["top"]}])")
            ->spec);
    ASSERT_EQ(made.size(), 3u);
    EXPECT_EQ(made[0].command, std::vector<std::string>{"sh"});
    EXPECT_EQ(made[1].command, std::vector<std::string>{"ps"});
    EXPECT_TRUE(made[2].command.empty());
}

TEST(PodContainers, ThereAreNoMoreThanHaveNumbers) {
    std::string many = "[";
    for (int i = 0; i < 5000; ++i)
        many += std::string(i == 0 ? "" : ",") + R"({"name":"e)" + std::to_string(i) + R"("})";
    const PodContainers containers(pod_with(many + "]"));
    EXPECT_EQ(containers.size(), std::size_t{1} << RunId::kContainerBits);
}

}  // namespace
}  // namespace muster::runtime::pod_containers_test
