#include "apiserver/fake_node.h"
#include "apiserver/server_fixture.h"

namespace muster::apiserver::metrics_test {
namespace {

/// metrics.k8s.io: what the node says of itself and of its pods.
class MetricsTest : public ServerFixture {
  protected:
    void SetUp() override {
        const std::string pods = "/api/v1/namespaces/default/pods";
        for (const char* name : {"p", "q", "idle"})
            post(pods, pod(name, fmt::format(R"(,"labels":{{"name":"{}"}})", name),
                           R"(,"nodeName":"n1")"));
        post("/api/v1/nodes", R"({"metadata":{"name":"n1","labels":{"a":"b"}}})");
        post("/api/v1/nodes", R"({"metadata":{"name":"n2"}})");
        node_.measured = {.node = "n1",
                          .at = clock.wall_now(),
                          .window = std::chrono::milliseconds(1500),
                          .machine = {.cpu_nanos = 1'250'000'000, .memory_bytes = 3 << 20},
                          .pods = {}};
        for (const char* name : {"q", "p"})
            node_.measured.pods.push_back(
                {.namespace_ = "default",
                 .name = name,
                 .uid = string_at_path(get(pods + "/" + name), "metadata.uid"),
                 .containers = {
                     {.name = "main", .usage = {.cpu_nanos = 7, .memory_bytes = 2048}}}});
        server_->connect_node(node_);
    }
    static constexpr const char* kMetrics = "/apis/metrics.k8s.io/v1beta1";
    std::vector<std::string> names(const kube::Response& list) {
        std::vector<std::string> found;
        for (const json::value& item : list.body->at("items").as_array())
            found.emplace_back(item.at("metadata").at("name").as_string());
        return found;
    }

    FakeNode node_{context.get_executor(), clock};
};

TEST_F(MetricsTest, OfAPod) {
    const kube::Response got = get(fmt::format("{}/namespaces/default/pods/p", kMetrics));
    ASSERT_EQ(got.status, 200) << text(got);
    EXPECT_EQ(at(got, "kind"), "PodMetrics");
    EXPECT_EQ(at(got, "apiVersion"), "metrics.k8s.io/v1beta1");
    EXPECT_EQ(at(got, "metadata.namespace"), "default");
    EXPECT_EQ(at(got, "metadata.labels"), json::parse(R"({"name":"p"})"));
    EXPECT_EQ(at(got, "window"), "1.500s");
    EXPECT_EQ(at(got, "containers"),
              json::parse(R"([{"name":"main","usage":{"cpu":"7n","memory":"2Ki"}}])"));
    EXPECT_EQ(message(get(fmt::format("{}/namespaces/default/pods/idle", kMetrics))),
              "pods.metrics.k8s.io \"idle\" not found");
    EXPECT_EQ(get(fmt::format("{}/namespaces/default/pods/none", kMetrics)).status, 404);
}

TEST_F(MetricsTest, ListsShowWhatWasMeasuredAndSelectAsThoseOfPodsDo) {
    const std::string all = fmt::format("{}/pods", kMetrics);
    const kube::Response list = get(all);
    EXPECT_EQ(at(list, "kind"), "PodMetricsList");
    EXPECT_EQ(names(list), (std::vector<std::string>{"p", "q"}));
    EXPECT_EQ(names(get(all, {{"labelSelector", "name=q"}})), std::vector<std::string>{"q"});
    EXPECT_TRUE(names(get(fmt::format("{}/namespaces/other/pods", kMetrics))).empty());
}

TEST_F(MetricsTest, OfTheNode) {
    const kube::Response list = get(fmt::format("{}/nodes", kMetrics));
    EXPECT_EQ(names(list), std::vector<std::string>{"n1"}) << "nobody measures the other one";
    const kube::Response got = get(fmt::format("{}/nodes/n1", kMetrics));
    EXPECT_EQ(at(got, "usage"), json::parse(R"({"cpu":"1250000000n","memory":"3072Ki"})"));
    EXPECT_EQ(get(fmt::format("{}/nodes/n2", kMetrics)).status, 404);
}

TEST_F(MetricsTest, WithoutANodeThereAreNone) {
    restart();
    for (const char* kind : {"pods", "nodes"}) {
        const kube::Response got = get(fmt::format("{}/{}", kMetrics, kind));
        EXPECT_EQ(got.status, 503);
        EXPECT_EQ(message(got),
                  "there are no measurements: this API server has no connection to a node");
    }
}

TEST_F(MetricsTest, NothingCanBeWrittenOrWatched) {
    const std::string pods = fmt::format("{}/namespaces/default/pods", kMetrics);
    EXPECT_EQ(post(pods, R"({"metadata":{"name":"x"}})").status, 405);
    EXPECT_EQ(remove(pods + "/p").status, 405);
    EXPECT_EQ(remove(pods).status, 405);
    EXPECT_EQ(merge_patch(pods + "/p", "{}").status, 405);
    EXPECT_FALSE(try_watch(pods));
}

}  // namespace
}  // namespace muster::apiserver::metrics_test
