#include "apiserver/internal/quota/quota_account.h"

#include <gmock/gmock.h>

#include <boost/asio/io_context.hpp>
#include <boost/json/parse.hpp>

#include "apiserver/internal/quota/quotas.h"
#include "base/time/sim_clock.h"
#include "kube/values/time.h"

namespace muster::apiserver::quota_account_test {
namespace {

json::object parsed(std::string_view text) { return json::parse(text).get_object(); }
json::object pod(std::string_view spec, std::string_view phase = "Running") {
    return parsed(fmt::format(R"({{"metadata":{{"name":"p","namespace":"n"}},"spec":{},
                                   "status":{{"phase":"{}"}}}})",
                              spec, phase));
}
json::object quota(std::string_view hard, std::string_view more = "") {
    return parsed(
        fmt::format(R"({{"metadata":{{"name":"q"}},"spec":{{"hard":{}{}}}}})", hard, more));
}
Usage used_by(std::string_view resource, const json::object& object, WallTime now = {}) {
    return usage_of(resource, object, now);
}
constexpr const char* kPlain = R"({"containers":[{"name":"c"}]})";
constexpr const char* kAsking =
    R"({"containers":[{"name":"c","resources":{"requests":{"cpu":"500m","nvidia.com/gpu":"2"},
        "limits":{"memory":"1Gi","nvidia.com/gpu":"2"}}}]})";

TEST(Usage, WhatALimitCounts) {
    const std::pair<const char*, const char*> kRows[] = {
        {"pods", "pods"},
        {"cpu", "pods"},
        {"limits.memory", "pods"},
        {"requests.nvidia.com/gpu", "pods"},
        {"nvidia.com/gpu", ""},
        {"hugepages-2Mi", "pods"},
        {"requests.hugepages-2Mi", "pods"},
        {"requests.storage", "persistentvolumeclaims"},
        {"gold.storageclass.storage.k8s.io/requests.storage", "persistentvolumeclaims"},
        {"services.nodeports", "services"},
        {"configmaps", "configmaps"},
        {"count/pods", "pods"},
        {"count/jobs.batch", "jobs.batch"},
        {"count/events", ""},
        {"count/events.events.k8s.io", ""},
        {"storage", ""},
    };
    for (const auto& [limit, resource] : kRows)
        EXPECT_EQ(counted_resource(limit), resource) << limit;
}

TEST(Usage, OfAPod) {
    struct Row {
        const char* spec;
        const char* amounts;
    };
    const Row kRows[] = {
        {kPlain, "count/pods=1,pods=1"},
        {kAsking,
         "count/pods=1,cpu=500m,limits.memory=1Gi,pods=1,requests.cpu=500m,"
         "requests.nvidia.com/gpu=2"},
        {R"({"containers":[{"resources":{"requests":{"cpu":"1"}}},
                           {"resources":{"requests":{"cpu":"1"}}}],
             "initContainers":[{"resources":{"requests":{"cpu":"3"}}}]})",
         "count/pods=1,cpu=3,pods=1,requests.cpu=3"},
        {R"({"containers":[{"resources":{"requests":{"cpu":"1"}}}],
             "initContainers":[{"restartPolicy":"Always","resources":{"requests":{"cpu":"1"}}},
                               {"resources":{"requests":{"cpu":"3"}}}]})",
         "count/pods=1,cpu=4,pods=1,requests.cpu=4"},
        {R"({"containers":[{"resources":{"requests":{"cpu":"1"}}}],"overhead":{"cpu":"250m"}})",
         "count/pods=1,cpu=1250m,pods=1,requests.cpu=1250m"},
    };
    for (const Row& row : kRows)
        EXPECT_EQ(describe(used_by("pods", pod(row.spec)).amounts), row.amounts) << row.spec;
    for (const char* phase : {"Succeeded", "Failed"})
        EXPECT_EQ(describe(used_by("pods", pod(kAsking, phase)).amounts), "count/pods=1");
}

TEST(Usage, OfAPodThatHangsInItsDeletion) {
    const auto deleted = [](std::string_view meta) {
        return parsed(fmt::format(R"({{"metadata":{{{}}},"spec":{}}})", meta, kPlain));
    };
    // By its own account it ends at :30, and once more its grace after that it no longer counts.
    const json::object hangs =
        deleted(R"("deletionTimestamp":"2023-11-14T22:13:30Z","deletionGracePeriodSeconds":30)");
    const WallTime end = *kube::parse_time("2023-11-14T22:14:00Z");
    EXPECT_EQ(used_by("pods", hangs, end).until, end);
    EXPECT_EQ(describe(used_by("pods", hangs, end).amounts), "count/pods=1,pods=1");
    EXPECT_EQ(describe(used_by("pods", hangs, end + Duration(1)).amounts), "count/pods=1");
    EXPECT_EQ(used_by("pods", hangs, end + Duration(1)).until, std::nullopt);
    for (const char* meta : {R"("name":"p")", R"("deletionTimestamp":"2023-11-14T22:13:30Z")",
                             R"("deletionTimestamp":"soon","deletionGracePeriodSeconds":30)"})
        EXPECT_EQ(describe(used_by("pods", deleted(meta), WallTime::max()).amounts),
                  "count/pods=1,pods=1")
            << meta;
    const json::object patient = deleted(
        R"("deletionTimestamp":"2261-11-14T22:13:30Z",
           "deletionGracePeriodSeconds":9223372036854775807)");
    EXPECT_EQ(describe(used_by("pods", patient, end).amounts), "count/pods=1,pods=1");
    EXPECT_EQ(used_by("configmaps", hangs, end).until, std::nullopt);
}

TEST(EndingPods, AreTakenInTheOrderOfTheirEnds) {
    const store::StoreKey a{"pods", "n", "a"};
    const store::StoreKey b{"pods", "n", "b"};
    const WallTime one{std::chrono::seconds(1)};
    const WallTime two{std::chrono::seconds(2)};
    EndingPods ending;
    EXPECT_EQ(ending.first(), std::nullopt);
    ending.follow(a, two);
    ending.follow(b, one);
    EXPECT_EQ(ending.first(), one);
    EXPECT_EQ(ending.take(one), std::nullopt) << "it counts at that very time";
    EXPECT_EQ(ending.take(two), b);
    EXPECT_EQ(ending.take(two), std::nullopt);
    ending.follow(a, one);
    EXPECT_EQ(ending.first(), one);
    ending.follow(a, std::nullopt);
    EXPECT_EQ(ending.first(), std::nullopt);
}

TEST(QuotaAccount, FollowsTheObjects) {
    QuotaAccount account(quota(R"({"pods":"3","requests.cpu":"2","count/pods":"9"})"));
    EXPECT_EQ(describe(account.used()), "count/pods=0,pods=0,requests.cpu=0");
    const store::StoreKey a{"pods", "n", "a"};
    const store::StoreKey b{"pods", "n", "b"};
    const Usage plain = used_by("pods", pod(kPlain));
    const Usage asking = used_by("pods", pod(kAsking));
    const Usage ended = used_by("pods", pod(kAsking, "Failed"));
    EXPECT_TRUE(account.put(a, &asking));
    EXPECT_FALSE(account.put(a, &asking));
    EXPECT_TRUE(account.put(b, &plain));
    EXPECT_EQ(describe(account.used()), "count/pods=2,pods=2,requests.cpu=500m");
    EXPECT_TRUE(account.put(a, &ended));
    EXPECT_EQ(describe(account.used()), "count/pods=2,pods=1,requests.cpu=0");
    EXPECT_TRUE(account.put(a, nullptr));
    EXPECT_FALSE(account.put(a, nullptr));
    EXPECT_EQ(describe(account.used()), "count/pods=1,pods=1,requests.cpu=0");
}

TEST(QuotaAccount, SaysWhatDoesNotFit) {
    QuotaAccount account(quota(R"({"pods":"1","requests.cpu":"600m"})"));
    const Usage asking = used_by("pods", pod(kAsking));
    const ResourceList share = account.share_of(asking);
    EXPECT_EQ(account.excess("q", share), "");
    account.reserve(share);
    EXPECT_EQ(account.excess("q", share),
              "exceeded quota: q, requested: pods=1,requests.cpu=500m, used: pods=1,"
              "requests.cpu=500m, limited: pods=1,requests.cpu=600m");
    account.release(share);
    EXPECT_EQ(account.excess("q", share), "");
    EXPECT_EQ(describe(account.used()), "pods=0,requests.cpu=0");
}

TEST(QuotaAccount, ScopesChooseThePods) {
    struct Row {
        const char* scope;
        const char* spec;
        bool counts;
    };
    constexpr const char* kDeadline = R"({"containers":[],"activeDeadlineSeconds":1})";
    constexpr const char* kHigh = R"({"containers":[],"priorityClassName":"high"})";
    constexpr const char* kAway =
        R"({"containers":[],"affinity":{"podAntiAffinity":{
            "preferredDuringSchedulingIgnoredDuringExecution":[
              {"podAffinityTerm":{"namespaceSelector":{}}}]}}})";
    const Row kRows[] = {
        {R"({"scopeName":"Terminating","operator":"Exists"})", kDeadline, true},
        {R"({"scopeName":"Terminating","operator":"Exists"})", kPlain, false},
        {R"({"scopeName":"NotTerminating","operator":"Exists"})", kDeadline, false},
        {R"({"scopeName":"BestEffort","operator":"Exists"})", kPlain, true},
        {R"({"scopeName":"NotBestEffort","operator":"Exists"})", kAsking, true},
        {R"({"scopeName":"CrossNamespacePodAffinity","operator":"Exists"})", kAway, true},
        {R"({"scopeName":"CrossNamespacePodAffinity","operator":"Exists"})", kPlain, false},
        {R"({"scopeName":"PriorityClass","operator":"Exists"})", kHigh, true},
        {R"({"scopeName":"PriorityClass","operator":"DoesNotExist"})", kHigh, false},
        {R"({"scopeName":"PriorityClass","operator":"In","values":["z","high","a"]})", kHigh, true},
        {R"({"scopeName":"PriorityClass","operator":"NotIn","values":["high"]})", kHigh, false},
        {R"({"scopeName":"PriorityClass","operator":"NotIn","values":["high"]})", kPlain, true},
        {R"({"scopeName":"Unknown","operator":"Exists"})", kPlain, false},
    };
    for (const Row& row : kRows) {
        const QuotaAccount account(
            quota(R"({"pods":"1","configmaps":"1"})",
                  fmt::format(R"(,"scopeSelector":{{"matchExpressions":[{}]}})", row.scope)));
        EXPECT_EQ(account.is_in_scope(used_by("pods", pod(row.spec))), row.counts) << row.scope;
        EXPECT_FALSE(account.is_in_scope(used_by("configmaps", parsed("{}")))) << row.scope;
    }
}

// ---- Quotas: writes in progress ----

const kube::ResourceType kPodType{"", "v1", "pods", "Pod"};
const store::StoreKey kA{"pods", "n", "a"};
const store::StoreKey kB{"pods", "n", "b"};

class QuotasTest : public ::testing::Test {
  protected:
    QuotasTest() { replace(R"({"pods":"1"})"); }
    void replace(std::string_view hard) {
        quotas_.put({"n", "q"}, quota(hard));
        // As if there were nothing to count.
        EXPECT_TRUE(quotas_.count({"n", "q"}, cache_, 0, {}));
    }
    StatusResult<Quotas::Claim> claim(const store::StoreKey& key) {
        return quotas_.claim(kPodType, key, nullptr, pod_, now_);
    }
    void commit(const store::StoreKey& key, bool removed = false) {
        auto object = std::make_shared<const json::value>(pod_);
        quotas_.observe({key, 1, removed ? nullptr : object, object, nullptr}, now_);
    }
    std::string used() { return describe(quotas_.counted({"n", "q"})->used()); }

    asio::io_context loop_;
    SimClock clock_;
    Rng rng_{1};
    TaskGroup tasks_{loop_.get_executor()};
    WatchCache cache_{loop_.get_executor(), clock_, rng_, tasks_, {}};
    Quotas quotas_;
    json::object pod_ = pod(kPlain);
    WallTime now_{};
};

TEST_F(QuotasTest, WritesInProgressCount) {
    {
        const auto first = claim(kA);
        ASSERT_TRUE(first);
        const auto second = claim(kB);
        ASSERT_FALSE(second);
        EXPECT_EQ(second.error().error.code(), Code::kForbidden);
        EXPECT_EQ(used(), "pods=0");
    }
    // The first was not committed.
    EXPECT_TRUE(claim(kB));
}

TEST_F(QuotasTest, ACommittedWriteCountsOnce) {
    const auto first = claim(kA);
    ASSERT_TRUE(first);
    commit(kA);
    EXPECT_EQ(used(), "pods=1");
    replace(R"({"pods":"2"})");
    const auto second = claim(kB);
    EXPECT_TRUE(second) << "the claim of what is committed is over";
    EXPECT_FALSE(claim({"pods", "n", "c"}));
    commit(kA, true);
    EXPECT_TRUE(claim({"pods", "n", "c"}));
}

TEST_F(QuotasTest, AQuotaThatIsGoneLetsGo) {
    const auto first = claim(kA);
    quotas_.remove({"n", "q"});
    EXPECT_TRUE(claim(kB));
    replace(R"({"pods":"1"})");
    EXPECT_TRUE(claim(kB));
}

TEST_F(QuotasTest, OtherNamespacesAreFree) {
    const auto first = claim(kA);
    EXPECT_TRUE(claim({"pods", "other", "b"}));
}

}  // namespace
}  // namespace muster::apiserver::quota_account_test
