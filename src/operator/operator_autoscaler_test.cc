#include <gmock/gmock.h>

#include <boost/json/parse.hpp>

#include "kube/values/document.h"
#include "operator/internal/integration_fixture.h"

// Elastic jobs: their HorizontalPodAutoscaler, and what it does to them.

namespace muster::operators::operator_autoscaler_test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using namespace std::chrono_literals;

constexpr auto kScaler = IntegrationType::kAutoscaler;
constexpr std::string_view kMetrics =
    R"([{"type":"Resource","resource":{"name":"cpu",
         "target":{"type":"Utilization","averageUtilization":80}}}])";

json::object elastic_job(std::string_view metrics = kMetrics) {
    json::object job = job_object({.masters = -1, .workers = 2});
    json::object policy{{"minReplicas", 1}, {"maxReplicas", 4}};
    if (!metrics.empty()) policy["metrics"] = json::parse(metrics);
    job["spec"].as_object()["elasticPolicy"] = std::move(policy);
    return job;
}

class ElasticWorld : public IntegrationWorld, public ::testing::Test {
  protected:
    ElasticWorld() { w.start_operator(); }

    void set_metrics(std::string_view metrics) {
        w.edit_job("demo", [&](json::object& spec) {
            json::object& policy = spec["elasticPolicy"].as_object();
            policy.erase("metrics");
            if (!metrics.empty()) policy["metrics"] = json::parse(metrics);
        });
        w.settle();
    }
    json::value scale_of() {
        kube::Request request;
        request.path = pytorch().resource.path("default", "demo", "scale");
        auto found = w.wait(w.api.call(std::move(request)));
        EXPECT_TRUE(found.has_value() && found->status == 200);
        return kube::copy_of(*found->body);
    }
    /// As an autoscaler does it.
    void scale(int replicas) {
        json::value wanted = scale_of();
        wanted.at("spec").as_object()["replicas"] = replicas;
        auto updated =
            w.wait(w.client.update(pytorch().resource, "default", "demo", wanted, "scale"));
        ASSERT_TRUE(updated.has_value()) << updated.error().message();
        w.settle();
        w.reap();
        w.settle();
    }
    std::string variable(const std::string& pod, std::string_view name) {
        const auto found = w.object(kube::types::kPods, pod);
        for (const json::value& variable : found->at_pointer("/spec/containers/0/env").as_array())
            if (variable.at("name").as_string() == name)
                return std::string(variable.at("value").as_string());
        return "";
    }
};

TEST_F(ElasticWorld, TheAutoscalerFollowsTheJob) {
    create(elastic_job());
    json::value wanted = json::parse(R"({
        "scaleTargetRef":{"apiVersion":"kubeflow.org/v1","kind":"PyTorchJob","name":"demo"},
        "minReplicas":1,"maxReplicas":4})");
    wanted.as_object()["metrics"] = json::parse(kMetrics);
    EXPECT_EQ(spec(kScaler), wanted);
    EXPECT_THAT(w.pods(), SizeIs(2));
    EXPECT_THAT(events(), HasSubstr("SuccessfulCreateHorizontalPodAutoscaler"));

    w.edit_job("demo",
               [](json::object& spec) { spec["elasticPolicy"].as_object()["maxReplicas"] = 8; });
    w.settle();
    EXPECT_EQ(spec(kScaler).at("maxReplicas"), 8);
    constexpr std::string_view kPodsMetric =
        R"([{"type":"Pods","pods":{"metric":{"name":"queue"},
             "target":{"type":"AverageValue","averageValue":"1000m"}}}])";
    set_metrics(kPodsMetric);
    EXPECT_EQ(spec(kScaler).at_pointer("/metrics/0/pods/target/averageValue").as_string(), "1");
    w.restart_operator();
    w.run_for(10min);
    EXPECT_THAT(writes, ElementsAre("POST horizontalpodautoscalers", "PUT horizontalpodautoscalers",
                                    "PUT horizontalpodautoscalers"));

    set_metrics("");
    EXPECT_FALSE(object(kScaler).has_value());
    set_metrics(kMetrics);
    EXPECT_TRUE(object(kScaler).has_value());
}

TEST_F(ElasticWorld, MetricsRemovedWhileNoOperatorRan) {
    create(elastic_job());
    w.stop_operator();
    set_metrics("");
    w.start_operator();
    w.settle();
    EXPECT_FALSE(object(kScaler).has_value());
}

// training-operator, "Should delete HPA once the PyTorchJob is suspended".
TEST_F(ElasticWorld, ItGoesWithASuspensionAndWithTheEnd) {
    create(elastic_job());
    w.suspend_job("demo", true);
    w.settle();
    EXPECT_FALSE(object(kScaler).has_value());
    w.reap();
    w.suspend_job("demo", false);
    w.settle();
    EXPECT_TRUE(object(kScaler).has_value());
    w.set_all("Running");
    w.set_phase("demo-worker-0", "Succeeded", 0);
    w.settle();
    EXPECT_TRUE(w.status("demo").is("Succeeded"));
    EXPECT_FALSE(object(kScaler).has_value());
}

TEST_F(ElasticWorld, AJobThatIsNotElasticIsNotLookedFor) {
    create(job_object({}));
    w.run_for(1min);
    EXPECT_THAT(watched, ElementsAre(""));
}

TEST_F(ElasticWorld, OneOfSomebodyElsesStaysAndHoldsNothing) {
    json::value theirs = json::parse(R"({
        "apiVersion":"autoscaling/v2","kind":"HorizontalPodAutoscaler",
        "metadata":{"name":"demo","namespace":"default"},
        "spec":{"scaleTargetRef":{"kind":"PyTorchJob","name":"demo"},"maxReplicas":3}})");
    auto made = w.wait(w.client.create(resource_of(kScaler), "default", theirs));
    ASSERT_TRUE(made.has_value()) << made.error().message();
    create(elastic_job());
    EXPECT_THAT(w.pods(), SizeIs(2));
    EXPECT_EQ(spec(kScaler).at("maxReplicas"), 3);
    EXPECT_THAT(events(), HasSubstr("ErrResourceExists"));
    EXPECT_THAT(conditions(), Not(Contains("Blocked")));
}

// Issue 1509: scaling down restarted the workers that stayed.
TEST_F(ElasticWorld, ScalingLeavesTheMembersThatStayAlone) {
    create(elastic_job());
    w.set_all("Running");
    w.settle();
    const std::vector<std::string> before{w.uid("demo-worker-0"), w.uid("demo-worker-1")};
    const auto uids = [&] {
        return std::vector<std::string>{w.uid("demo-worker-0"), w.uid("demo-worker-1")};
    };
    EXPECT_EQ(variable("demo-worker-0", "PET_NNODES"), "1:4");
    scale(4);
    EXPECT_THAT(w.pods(),
                ElementsAre("demo-worker-0", "demo-worker-1", "demo-worker-2", "demo-worker-3"));
    EXPECT_EQ(uids(), before);
    EXPECT_EQ(variable("demo-worker-3", "PET_NNODES"), "1:4") << "the same for who comes later";
    EXPECT_EQ(variable("demo-worker-3", "PET_RDZV_ENDPOINT"),
              variable("demo-worker-0", "PET_RDZV_ENDPOINT"));
    w.set_all("Running");
    w.settle();
    scale(2);
    EXPECT_THAT(w.pods(), ElementsAre("demo-worker-0", "demo-worker-1"));
    EXPECT_EQ(uids(), before);
    EXPECT_THAT(conditions(), ElementsAre("Created", "Running"));
    EXPECT_EQ(w.restarts("demo"), 0);
    scale(1);
    EXPECT_EQ(w.uid("demo-worker-0"), before[0]);
}

TEST_F(ElasticWorld, TheScaleTellsTheAutoscalerWhatToCount) {
    create(elastic_job());
    w.set_all("Running");
    w.settle();
    const json::value found = scale_of();
    EXPECT_EQ(found.at_pointer("/status/replicas"), 2);
    EXPECT_EQ(found.at_pointer("/status/selector").as_string(),
              "training.kubeflow.org/job-name=demo,"
              "training.kubeflow.org/operator-name=pytorchjob-controller,"
              "training.kubeflow.org/replica-type=worker");
}

}  // namespace
}  // namespace muster::operators::operator_autoscaler_test
