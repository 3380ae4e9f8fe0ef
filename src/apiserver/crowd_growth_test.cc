#include <gmock/gmock.h>

#include "apiserver/server_fixture.h"
#include "base/test_growth.h"

// What many objects and watches cost together: ten times as many are ten times the work.

namespace muster::apiserver::crowd_growth_test {
namespace {

using namespace std::chrono_literals;

const std::string kRoles = "/apis/rbac.authorization.k8s.io/v1/clusterroles";

class CrowdGrowth : public ServerFixture {
  protected:
    /// Many roles, made by a server of their own.
    template <class Role>
    void make_roles(std::size_t size, Role role) {
        restart();
        for (std::size_t i = 0; i < size; ++i) ASSERT_EQ(post(kRoles, role(i)).status, 201);
        settle();
    }
};

TEST_F(CrowdGrowth, OfWatchesWithBookmarks) {
    EXPECT_LE(growth_by_ten(100,
                            [&](std::size_t size) {
                                std::vector<std::unique_ptr<kube::WatchStream>> watches;
                                for (std::size_t i = 0; i < size; ++i)
                                    watches.push_back(open_watch(
                                        "/api/v1/configmaps", {{"resourceVersion", "0"},
                                                               {"allowWatchBookmarks", "true"}}));
                                advance(5min);
                            }),
              kLinearGrowth);
}

// Each may be a part of roles that everybody has.
TEST_F(CrowdGrowth, OfRoles) {
    EXPECT_LE(growth_by_ten(50,
                            [&](std::size_t size) {
                                make_roles(size, [](std::size_t i) {
                                    return fmt::format(R"({{"metadata":{{"name":"r{}"}}}})", i);
                                });
                            }),
              kLinearGrowth);
}

TEST_F(CrowdGrowth, OfAggregatedRoles) {
    EXPECT_LE(growth_by_ten(50,
                            [&](std::size_t size) {
                                make_roles(size, [](std::size_t i) {
                                    return fmt::format(
                                        R"({{"metadata":{{"name":"r{0}"}},"aggregationRule":)"
                                        R"({{"clusterRoleSelectors":[{{"matchLabels":)"
                                        R"({{"part-of":"r{0}"}}}}]}}}})",
                                        i);
                                });
                            }),
              kLinearGrowth);
}

/// The status of a pod with that many containers.
TEST_F(CrowdGrowth, OfStatuses) {
    constexpr std::size_t kSize = 100;
    const std::string pods = "/api/v1/namespaces/default/pods";
    const auto name = [](std::size_t size) { return fmt::format("p{}", size); };
    std::map<std::size_t, json::value> reported;
    for (const std::size_t size : {kSize, 10 * kSize}) {
        json::array containers;
        json::array statuses;
        json::array conditions;
        for (std::size_t i = 0; i < size; ++i) {
            const std::string container = fmt::format("c{}", i);
            containers.push_back(json::object{{"name", container}, {"image", "a"}});
            statuses.push_back(
                json::object{{"name", container},
                             {"ready", true},
                             {"restartCount", 0},
                             {"image", "a"},
                             {"imageID", ""},
                             {"state", {{"running", {{"startedAt", "2023-11-14T22:13:20Z"}}}}}});
            conditions.push_back(
                json::object{{"type", fmt::format("a.io/c{}", i)}, {"status", "True"}});
        }
        const kube::Response made = call(kube::Method::kPost, pods,
                                         std::make_shared<const json::value>(json::object{
                                             {"metadata", {{"name", name(size)}}},
                                             {"spec", {{"containers", std::move(containers)}}}}));
        ASSERT_EQ(made.status, 201) << text(made);
        json::value pod = body_of(made);
        pod.as_object()["status"] = {{"phase", "Running"},
                                     {"containerStatuses", std::move(statuses)},
                                     {"conditions", std::move(conditions)}};
        reported.emplace(size, std::move(pod));
    }
    EXPECT_LE(growth_by_ten(kSize,
                            [&](std::size_t size) {
                                const kube::Response written =
                                    put(pods + "/" + name(size) + "/status", reported.at(size),
                                        {{"dryRun", "All"}});
                                ASSERT_EQ(written.status, 200) << text(written);
                            }),
              kLinearGrowth);
}

}  // namespace
}  // namespace muster::apiserver::crowd_growth_test
