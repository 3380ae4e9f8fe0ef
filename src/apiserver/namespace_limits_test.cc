#include <gmock/gmock.h>

#include "apiserver/server_fixture.h"

namespace muster::apiserver::namespace_limits_test {
namespace {

using ::testing::HasSubstr;

using namespace std::chrono_literals;

constexpr const char* kPods = "/api/v1/namespaces/default/pods";
constexpr const char* kQuotas = "/api/v1/namespaces/default/resourcequotas";
constexpr const char* kRanges = "/api/v1/namespaces/default/limitranges";

class NamespaceLimitsTest : public ServerFixture {
  protected:
    static std::string pod(int number, std::string_view spec = "") {
        return fmt::format(
            R"({{"metadata":{{"name":"p{}"}},"spec":{{"containers":[{{"name":"c","image":"i"}}]{}}}}})",
            number, spec);
    }
    static std::string amounts(int count, std::string_view name) {
        std::string text;
        for (int i = 0; i < count; ++i)
            text +=
                fmt::format(R"({}"{}":"1")", i == 0 ? "" : ",", fmt::format(fmt::runtime(name), i));
        return text;
    }
};

TEST_F(NamespaceLimitsTest, AQuotaCountsManyObjectsInPieces) {
    for (int i = 0; i < 300; ++i) ASSERT_EQ(post(kPods, pod(i)).status, 201);
    ASSERT_EQ(post(kQuotas, R"({"metadata":{"name":"q"},"spec":{"hard":{"pods":"301"}}})").status,
              201);
    settle();
    const kube::Response quota = get(std::string(kQuotas) + "/q");
    EXPECT_EQ(string_at_path(quota, "status.used.pods"), "300") << text(quota);
    EXPECT_EQ(post(kPods, pod(300)).status, 201);
    EXPECT_EQ(post(kPods, pod(301)).status, 403);
}

TEST_F(NamespaceLimitsTest, APodThatHangsInItsDeletionIsCountedNoLonger) {
    ASSERT_EQ(
        post(kQuotas, R"({"metadata":{"name":"q"},"spec":{"hard":{"pods":"1","count/pods":"9"}}})")
            .status,
        201);
    const auto used = [this] {
        settle();
        return string_at_path(get(std::string(kQuotas) + "/q"), "status.used");
    };
    // No kubelet ends it.
    ASSERT_EQ(post(kPods, pod(1, R"(,"nodeName":"lost")")).status, 201);
    EXPECT_EQ(remove(std::string(kPods) + "/p1", R"({"gracePeriodSeconds":10})").status, 200);
    EXPECT_EQ(used(), R"({"count/pods":"1","pods":"1"})");
    advance(20s);
    EXPECT_EQ(post(kPods, pod(2)).status, 403) << "its grace after its time to end";
    advance(1s);
    EXPECT_EQ(used(), R"({"count/pods":"1","pods":"0"})");
    EXPECT_EQ(post(kPods, pod(2)).status, 201);
    EXPECT_EQ(used(), R"({"count/pods":"2","pods":"1"})");
    EXPECT_EQ(
        merge_patch(std::string(kPods) + "/p1", R"({"metadata":{"labels":{"a":"b"}}})").status,
        200);
    EXPECT_EQ(used(), R"({"count/pods":"2","pods":"1"})");
}

TEST_F(NamespaceLimitsTest, AQuotaIsFreeOfManyPodsThatHang) {
    ASSERT_EQ(post(kQuotas, R"({"metadata":{"name":"q"},"spec":{"hard":{"pods":"300"}}})").status,
              201);
    for (int i = 0; i < 300; ++i) {
        ASSERT_EQ(post(kPods, pod(i, R"(,"nodeName":"lost")")).status, 201);
        ASSERT_EQ(remove(fmt::format("{}/p{}", kPods, i)).status, 200);
    }
    EXPECT_EQ(post(kPods, pod(300)).status, 403);
    advance(61s);
    EXPECT_EQ(string_at_path(get(std::string(kQuotas) + "/q"), "status.used.pods"), "0");
}

TEST_F(NamespaceLimitsTest, AQuotaHasAThousandLimitsAtMost) {
    const auto quota = [](int count) {
        return fmt::format(R"({{"metadata":{{"name":"q"}},"spec":{{"hard":{{{}}}}}}})",
                           amounts(count, "count/r{}.a.io"));
    };
    EXPECT_EQ(post(kQuotas, quota(1000), {{"dryRun", "All"}}).status, 201);
    const kube::Response refused = post(kQuotas, quota(1001), {{"dryRun", "All"}});
    EXPECT_EQ(refused.status, 422);
    EXPECT_THAT(text(refused), HasSubstr("spec.hard: Too many: 1001: must have at most 1000"));
}

TEST_F(NamespaceLimitsTest, ARangeHasAThousandAmountsAtMost) {
    const auto range = [](int count) {
        return fmt::format(R"({{"metadata":{{"name":"l"}},"spec":{{"limits":[
                               {{"type":"Container","default":{{{}}}}}]}}}})",
                           amounts(count, "a.io/r{}"));
    };
    // With the limit itself, and the default request that comes from the default.
    EXPECT_EQ(post(kRanges, range(499), {{"dryRun", "All"}}).status, 201);
    const kube::Response refused = post(kRanges, range(1000), {{"dryRun", "All"}});
    EXPECT_EQ(refused.status, 422);
    EXPECT_THAT(text(refused), HasSubstr("spec.limits: Too many"));
}

TEST_F(NamespaceLimitsTest, APriorityClassNeedsToExistOnlyWhereThereAreAny) {
    EXPECT_EQ(post(kPods, pod(1, R"(,"priorityClassName":"high")")).status, 201)
        << "a server without classes";
}

}  // namespace
}  // namespace muster::apiserver::namespace_limits_test
