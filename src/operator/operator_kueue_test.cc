#include <gmock/gmock.h>

#include <boost/json/parse.hpp>

#include "operator/internal/integration_fixture.h"

// What Kueue does to jobs: they are created suspended, changed and resumed in one update when they
// are admitted, and suspended with their own templates again when they are evicted.

namespace muster::operators::operator_kueue_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using namespace std::chrono_literals;

class KueueWorld : public IntegrationWorld, public ::testing::Test {
  protected:
    KueueWorld() { w.start_operator(); }

    void edit(const std::function<void(json::object& spec)>& change) {
        const auto found = w.object(pytorch().resource, "demo");
        json::value after = *found;
        change(after.at("spec").as_object());
        const jobs::Job before = jobs::load(pytorch(), *found).value();
        EXPECT_THAT(jobs::validate_update(before, jobs::load(pytorch(), after).value()), IsEmpty());
        w.edit_job("demo", change);
        w.settle();
    }
    static void suspend(json::object& spec, bool on) {
        spec["runPolicy"].as_object()["suspend"] = on;
    }
    /// What it merges into a template on admission.
    static void admit(json::object& spec, const std::string& type, int replicas) {
        json::object& replica = spec["pytorchReplicaSpecs"].as_object()[type].as_object();
        replica["replicas"] = replicas;
        json::object& pod = replica["template"].as_object();
        pod["metadata"] = json::parse(R"({
            "labels":{"kueue.x-k8s.io/podset":"worker"},
            "annotations":{"kueue.x-k8s.io/workload":"pytorchjob-demo",
                           "kueue.x-k8s.io/podset-required-topology":"rack"}})");
        json::object& spec_of_pod = pod["spec"].as_object();
        spec_of_pod["nodeSelector"] = json::object{{"pool", "spot"}};
        spec_of_pod["tolerations"] = json::parse(R"([{"key":"spot","operator":"Exists"}])");
        spec_of_pod["schedulingGates"] = json::parse(R"([{"name":"kueue.x-k8s.io/topology"}])");
    }
    /// Says where the pods go, once there is a place for all of them.
    void open_gates() {
        for (const std::string& name : w.pods()) {
            json::value gated = pod(name);
            gated.at("spec").as_object().erase("schedulingGates");
            auto opened = w.wait(w.client.update(kube::types::kPods, "default", name, gated));
            ASSERT_TRUE(opened.has_value()) << opened.error().message();
        }
    }
    void run_all() {
        open_gates();
        w.set_all("Running");
        w.settle();
    }
    json::value pod(const std::string& name) { return *w.object(kube::types::kPods, name); }
    /// What the integration of Kueue calls active.
    bool is_active() {
        for (const auto& [type, counts] : w.status("demo").replica_statuses)
            if (counts.active.value_or(0) != 0) return true;
        return false;
    }
};

TEST_F(KueueWorld, PodsAreOfTheTemplatesAsAdmitted) {
    create(job_object({.workers = 3, .suspend = true}));
    EXPECT_THAT(w.pods(), IsEmpty());
    EXPECT_THAT(conditions(), ElementsAre("Created", "Suspended"));
    json::value written;
    edit([&](json::object& spec) {
        admit(spec, "Worker", 2);  // a part of them
        suspend(spec, false);
        written = spec["pytorchReplicaSpecs"].as_object()["Worker"].as_object()["template"];
    });
    EXPECT_THAT(w.pods(), ElementsAre("demo-master-0", "demo-worker-0", "demo-worker-1"));
    const json::value made = pod("demo-worker-1");
    for (const char* field : {"nodeSelector", "tolerations", "schedulingGates"})
        EXPECT_EQ(made.at("spec").at(field), written.at("spec").at(field)) << field;
    for (const char* map : {"labels", "annotations"})
        for (const auto& [key, value] : written.at("metadata").at(map).as_object())
            EXPECT_EQ(made.at("metadata").at(map).at(key), value) << key;
    EXPECT_FALSE(pod("demo-master-0").at("spec").as_object().contains("nodeSelector"))
        << "its template was not changed";
    run_all();
    EXPECT_TRUE(is_active());
    EXPECT_THAT(conditions(), ElementsAre("Created", "Suspended=False", "Running"));
}

TEST_F(KueueWorld, EvictedAndAdmittedElsewhere) {
    create(job_object({.workers = 2, .suspend = true}));
    const json::value original = w.object(pytorch().resource, "demo")->at("spec");
    edit([](json::object& spec) {
        admit(spec, "Worker", 1);
        suspend(spec, false);
    });
    run_all();
    const std::string first = w.uid("demo-worker-0");
    // With its own templates and number of replicas.
    edit([&](json::object& spec) { spec = original.as_object(); });
    EXPECT_TRUE(w.status("demo").is("Suspended"));
    EXPECT_FALSE(w.status("demo").is("Running"));
    EXPECT_FALSE(is_active());
    // Admitted elsewhere while the old pods are on their way out.
    edit([](json::object& spec) {
        spec["pytorchReplicaSpecs"]
            .as_object()["Worker"]
            .at_pointer("/template/spec")
            .as_object()["nodeSelector"] = json::object{{"pool", "reserved"}};
        suspend(spec, false);
    });
    w.reap();
    w.settle();
    EXPECT_THAT(w.pods(), ElementsAre("demo-master-0", "demo-worker-0", "demo-worker-1"));
    for (const char* name : {"demo-worker-0", "demo-worker-1"}) {
        EXPECT_EQ(pod(name).at_pointer("/spec/nodeSelector/pool").as_string(), "reserved");
        EXPECT_FALSE(pod(name).at("spec").as_object().contains("tolerations"));
    }
    EXPECT_NE(w.uid("demo-worker-0"), first);
    EXPECT_EQ(w.restarts("demo"), 0) << "an eviction is not a failure";
    w.set_all("Running");
    w.settle();
    finish();
    EXPECT_FALSE(is_active());
}

TEST_F(KueueWorld, TemplatesMayChangeWhileItIsSuspended) {
    create(job_object({.suspend = true}));
    for (int round = 0; round < 3; ++round)
        edit([&](json::object& spec) { admit(spec, "Worker", 1 + round); });
    EXPECT_THAT(w.pods(), IsEmpty());
    EXPECT_THAT(conditions(), ElementsAre("Created", "Suspended"));
    EXPECT_TRUE(w.status("demo").start_time.empty());
}

TEST_F(KueueWorld, AJobOfAnotherClusterIsLeftAlone) {
    json::object job = job_object({.suspend = true});
    job["spec"].at_pointer("/runPolicy").as_object()["managedBy"] = "kueue.x-k8s.io/multikueue";
    create(std::move(job));
    edit([](json::object& spec) { suspend(spec, false); });
    w.run_for(10min);
    EXPECT_THAT(w.pods(), IsEmpty());
    EXPECT_TRUE(w.status("demo").conditions.empty());
    EXPECT_EQ(w.transport.writes, 0);
}

}  // namespace
}  // namespace muster::operators::operator_kueue_test
