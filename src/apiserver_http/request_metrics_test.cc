#include <gmock/gmock.h>
#include <prometheus/collectable.h>

#include "apiserver_http/front_fixture.h"
#include "apiserver_http/metric_family.h"

namespace muster::apiserver_http::request_metrics_test {
namespace {

using testing::HasSubstr;
using testing::Not;

class MetricsFrontTest : public FrontFixture {
  protected:
    explicit MetricsFrontTest(FrontOptions front = {})
        : FrontFixture({.manage_fields = true, .default_roles = true}, std::move(front)) {
        settle();
    }

    /// The value of the line that begins so; nullopt when there is none.
    std::optional<double> metric(const std::string& line) {
        const std::string text = "\n" + get("/metrics", "*/*").body;
        const std::size_t at = text.find("\n" + line + " ");
        if (at == text.npos) return std::nullopt;
        return std::stod(text.substr(at + line.size() + 2));
    }
    std::optional<double> requests(std::string_view code, std::string_view resource,
                                   std::string_view scope, std::string_view verb) {
        return metric(fmt::format(
            R"(apiserver_request_total{{code="{}",component="apiserver",dry_run="",group="",)"
            R"(resource="{}",scope="{}",subresource="",verb="{}",version="v1"}})",
            code, resource, scope, verb));
    }
};

TEST_F(MetricsFrontTest, RequestsAreCountedByWhatTheyAskedAndGot) {
    post(kMaps, R"({"metadata":{"name":"m"}})");
    post(kMaps, R"({"metadata":{"name":"m"}})");
    get(kMaps + "/m");
    get(kMaps);
    get("/api/v1/configmaps");
    EXPECT_EQ(requests("201", "configmaps", "resource", "POST"), 1);
    EXPECT_EQ(requests("409", "configmaps", "resource", "POST"), 1);
    EXPECT_EQ(requests("200", "configmaps", "resource", "GET"), 1);
    EXPECT_EQ(requests("200", "configmaps", "namespace", "LIST"), 1);
    EXPECT_EQ(requests("200", "configmaps", "cluster", "LIST"), 1);
    EXPECT_EQ(metric(R"(apiserver_storage_objects{resource="configmaps"})"), 1);
    // The request that asks is one of them.
    EXPECT_EQ(metric(R"(apiserver_current_inflight_requests{request_kind="readOnly"})"), 1);
    EXPECT_EQ(metric(R"(apiserver_current_inflight_requests{request_kind="mutating"})"), 0);
}

TEST_F(MetricsFrontTest, AClientMakesNoNewSeriesByAskingForWhatIsNotThere) {
    const auto series = [&] {
        const std::string text = get("/metrics", "*/*").body;
        return std::ranges::count(text, '\n');
    };
    get("/nothing/0");
    series();
    const auto before = series();
    for (int i = 1; i < 20; ++i) {
        get(fmt::format("/nothing/{}", i));
        get(fmt::format("/apis/nothing{}/v1/things", i));
        get(fmt::format("/api/nothing{}", i));
    }
    EXPECT_LE(series() - before, 2 * 30);  // the histograms of two beginnings of paths
}

TEST_F(MetricsFrontTest, AChangeIsEncodedOnceHoweverManyWatch) {
    constexpr std::size_t kWatchers = 20;
    constexpr std::size_t kChanges = 10;
    const std::string encoded = R"(muster_watch_encodings_total{form="object"})";
    const std::string sent =
        R"(apiserver_watch_events_total{group="",kind="ConfigMap",version="v1"})";
    const double before = metric(encoded).value_or(-1);
    std::vector<std::unique_ptr<net::HttpBody>> watches;
    for (std::size_t i = 0; i < kWatchers; ++i) watches.push_back(open(kMaps + "?watch=1"));
    EXPECT_EQ(metric(R"(apiserver_longrunning_requests{component="apiserver",group="",)"
                     R"(resource="configmaps",scope="namespace",subresource="",verb="WATCH",)"
                     R"(version="v1"})"),
              kWatchers);
    for (std::size_t i = 0; i < kChanges; ++i)
        post(kMaps, fmt::format(R"({{"metadata":{{"name":"m{}"}}}})", i));
    for (const auto& watch : watches) lines(*watch, kChanges);
    EXPECT_EQ(metric(encoded), before + kChanges);
    EXPECT_EQ(metric(sent), kWatchers * kChanges);
    const auto table = open(kMaps + "?watch=1", "application/json;as=Table;v=v1;g=meta.k8s.io");
    lines(*table, kChanges);
    EXPECT_EQ(metric(R"(muster_watch_encodings_total{form="other"})"), kChanges);
}

TEST_F(MetricsFrontTest, WhoHasNoRoleForItSeesNone) {
    EXPECT_THAT(verdict(as("bob", "GET", "/metrics")),
                HasSubstr("User \"bob\" cannot get path \"/metrics\""));
    post("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
         R"({"metadata":{"name":"b"},"roleRef":{"kind":"ClusterRole","name":"system:monitoring"},)"
         R"("subjects":[{"kind":"User","name":"bob"}]})");
    EXPECT_EQ(as("bob", "GET", "/metrics").status, 200);
    net::HttpResponse shown = get("/metrics", "text/plain;version=0.0.4,*/*;q=0.1");
    EXPECT_EQ(shown.headers.find("Content-Type"), "text/plain; version=0.0.4; charset=utf-8");
}

class MoreMetricsTest : public MetricsFrontTest {
  protected:
    MoreMetricsTest()
        : MetricsFrontTest({.limits = {}, .metrics = {std::make_shared<CollectedNow>([] {
                                              return std::vector{family(
                                                  "x", "y", prometheus::MetricType::Gauge, 7)};
                                          })}}) {}
};

TEST_F(MoreMetricsTest, WhatOthersCountIsShownToo) { EXPECT_EQ(metric("x"), 7); }

class LimitsTest : public MetricsFrontTest {
  protected:
    LimitsTest() : MetricsFrontTest({.limits = {.read_only = 1, .mutating = 1}, .metrics = {}}) {
        post("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
             R"({"metadata":{"name":"b"},"roleRef":{"kind":"ClusterRole","name":"edit"},)"
             R"("subjects":[{"kind":"User","name":"bob"}]})");
    }

    /// A request that the server is busy with until the clock has gone on.
    void occupy(std::string_view user, std::string method, std::string target) {
        net::HttpRequest made =
            request(std::move(method), std::move(target), "", {{"Impersonate-User", user}});
        group_.spawn("occupied", [](LimitsTest& test, net::HttpRequest sent) -> Task<void> {
            test.answers_.push_back(
                co_await test.client_.call(std::move(sent), std::chrono::seconds(60)));
        }(*this, std::move(made)));
        settle();
    }

    std::vector<Result<net::HttpResponse>> answers_;
    TaskGroup group_{context.get_executor()};
};

TEST_F(LimitsTest, TooManyRequestsAreToldToComeBackAndTheAdminIsServed) {
    occupy("bob", "GET", kMaps + "?resourceVersion=100000");
    const net::HttpResponse refused = as("bob", "GET", kMaps);
    EXPECT_EQ(refused.status, 429);
    EXPECT_EQ(refused.headers.find("Retry-After"), "1");
    EXPECT_THAT(refused.body, HasSubstr("Too many requests"));
    EXPECT_EQ(get(kMaps).status, 200);
    // Writes have a limit of their own, and long-running requests have none.
    EXPECT_EQ(as("bob", "POST", kMaps, R"({"metadata":{"name":"m"}})").status, 201);
    EXPECT_TRUE(
        await(client_.stream(request("GET", kMaps + "?watch=1", "", {{"Impersonate-User", "bob"}}),
                             std::chrono::seconds(10))));
    EXPECT_EQ(requests("429", "configmaps", "namespace", "LIST"), 1);

    advance(std::chrono::seconds(30));
    ASSERT_EQ(answers_.size(), 1U);
    EXPECT_EQ(as("bob", "GET", kMaps).status, 200);
    await(group_.stop());
}

}  // namespace
}  // namespace muster::apiserver_http::request_metrics_test
