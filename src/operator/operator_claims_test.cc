#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "operator/internal/world_fixture.h"

namespace muster::operators::operator_claims_test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;
using namespace std::chrono_literals;

/// Whose a pod is follows its controller reference and its labels, as it does for Kubernetes' own
/// controllers. Upstream never adopts a pod: a job that finds one in its way waits without end.
class ClaimsTest : public ::testing::Test {
  protected:
    ClaimsTest() { world.start_operator(); }

    struct ByHand {
        std::string name = "demo-worker-0";
        int index = 0;
        std::string job = "demo";
        std::string controller_kind = {};  ///< empty: no controller
        std::string controller_uid = {};
    };
    static json::object metadata(const ByHand& sketch) {
        json::object made{
            {"name", sketch.name},
            {"labels",
             json::object{
                 {"training.kubeflow.org/operator-name", "pytorchjob-controller"},
                 {"training.kubeflow.org/job-name", sketch.job},
                 {"training.kubeflow.org/replica-type", "worker"},
                 {"training.kubeflow.org/replica-index", fmt::format("{}", sketch.index)}}}};
        if (!sketch.controller_kind.empty())
            made["ownerReferences"] = json::array{json::object{{"apiVersion", "v1"},
                                                               {"kind", sketch.controller_kind},
                                                               {"name", "somebody"},
                                                               {"uid", sketch.controller_uid},
                                                               {"controller", true}}};
        return made;
    }
    void make_pod_by_hand(const ByHand& sketch) {
        json::object pod{
            {"apiVersion", "v1"},
            {"kind", "Pod"},
            {"metadata", metadata(sketch)},
            {"spec", json::object{{"containers", json::array{json::object{{"name", "pytorch"},
                                                                          {"image", "i"}}}}}}};
        auto made = world.wait(world.client.create(kube::types::kPods, "default", std::move(pod)));
        ASSERT_TRUE(made.has_value()) << made.error().message();
    }
    void make_service_by_hand(const ByHand& sketch) {
        json::object service{{"apiVersion", "v1"},
                             {"kind", "Service"},
                             {"metadata", metadata(sketch)},
                             {"spec", json::object{{"clusterIP", "None"}}}};
        auto made =
            world.wait(world.client.create(kube::types::kServices, "default", std::move(service)));
        ASSERT_TRUE(made.has_value()) << made.error().message();
    }
    void relabel(const kube::ResourceType& type, const std::string& name, std::string_view label,
                 const std::string& value) {
        json::object patch{{"metadata", json::object{{"labels", json::object{{label, value}}}}}};
        auto patched = world.wait(world.client.patch(
            type, "default", name, kube::ContentType::kMergePatch, std::move(patch)));
        ASSERT_TRUE(patched.has_value()) << patched.error().message();
    }
    /// The uid of the controller, "" without one.
    std::string controller_of(const kube::ResourceType& type, const std::string& name) {
        auto object = world.object(type, name);
        if (!object) return "(gone)";
        const json::value* owners =
            object->at("metadata").as_object().if_contains("ownerReferences");
        if (owners == nullptr || owners->as_array().empty()) return "";
        EXPECT_THAT(owners->as_array(), SizeIs(1));
        EXPECT_EQ(owners->at(0).at("controller"), true);
        return std::string(owners->at(0).at("uid").as_string());
    }
    std::string job_uid(const std::string& name = "demo") {
        return std::string(
            world.object(pytorch().resource, name)->at("metadata").at("uid").as_string());
    }
    int told(const std::string& reason) {
        return static_cast<int>(std::ranges::count_if(
            world.events("demo"),
            [&](const std::string& event) { return event.starts_with(reason + ": "); }));
    }

    World world;
};

// training-operator pkg/controller.v1/control, TestClaimPods and TestClaimServices, row by row.

TEST_F(ClaimsTest, TestClaimPodsClaimsByLabel) {
    make_pod_by_hand({});
    const std::string uid = world.uid("demo-worker-0");
    world.create_job({});
    world.settle();
    EXPECT_EQ(controller_of(kube::types::kPods, "demo-worker-0"), job_uid());
    EXPECT_EQ(world.uid("demo-worker-0"), uid);
    EXPECT_THAT(world.pods(), SizeIs(3)) << "the others are made";
    EXPECT_EQ(told("AdoptedPod"), 1);
    EXPECT_EQ(told("FailedCreatePod"), 0);
    world.set_all("Running");
    world.settle();
    EXPECT_EQ(world.status("demo").replica_statuses["Worker"].active, 2);
}

TEST_F(ClaimsTest, TestClaimServicesClaimsByLabel) {
    make_service_by_hand({});
    world.create_job({});
    world.settle();
    EXPECT_EQ(controller_of(kube::types::kServices, "demo-worker-0"), job_uid());
    EXPECT_THAT(world.services(), SizeIs(3));
    EXPECT_EQ(told("AdoptedService"), 1);
    EXPECT_EQ(told("FailedCreateService"), 0);
}

TEST_F(ClaimsTest, TestClaimPodsOfADeletingJobClaimsNothing) {
    world.run_job({});
    world.hold_job("demo");
    world.delete_job("demo");
    world.settle();
    make_pod_by_hand({.name = "by-hand", .index = 5});
    make_service_by_hand({.name = "by-hand", .index = 5});
    world.run_for(10min);
    EXPECT_EQ(controller_of(kube::types::kPods, "by-hand"), "");
    EXPECT_EQ(controller_of(kube::types::kServices, "by-hand"), "");
}

TEST_F(ClaimsTest, TestClaimPodsLeavesWhatAnotherControls) {
    make_service_by_hand({.name = "somebody", .job = "elsewhere"});
    const std::string foreign = std::string(
        world.object(kube::types::kServices, "somebody")->at("metadata").at("uid").as_string());
    make_pod_by_hand({.controller_kind = "Service", .controller_uid = foreign});
    const std::string uid = world.uid("demo-worker-0");
    world.create_job({});
    world.run_for(1min);
    EXPECT_EQ(world.uid("demo-worker-0"), uid);
    EXPECT_EQ(controller_of(kube::types::kPods, "demo-worker-0"), foreign);
    EXPECT_THAT(world.events("demo"), Contains(HasSubstr("belongs to Service somebody")));
    EXPECT_THAT(world.pods(), SizeIs(3));
}

TEST_F(ClaimsTest, TestClaimPodsReleasesWhatItsLabelsNoLongerName) {
    world.run_job({});
    const std::string uid = world.uid("demo-worker-1");
    relabel(kube::types::kPods, "demo-worker-1", "training.kubeflow.org/job-name", "elsewhere");
    world.settle();
    EXPECT_EQ(controller_of(kube::types::kPods, "demo-worker-1"), "");
    EXPECT_EQ(world.uid("demo-worker-1"), uid) << "left to who relabelled it";
    EXPECT_EQ(told("ReleasedPod"), 1);
    EXPECT_THAT(world.events("demo"), Contains(HasSubstr("has no owner")))
        << "its name is in the way";
    world.force_delete_pod("demo-worker-1");
    world.run_for(2min);
    EXPECT_NE(world.uid("demo-worker-1"), uid);
    EXPECT_EQ(controller_of(kube::types::kPods, "demo-worker-1"), job_uid());
}

TEST_F(ClaimsTest, TestClaimServicesReleasesWhatItsLabelsNoLongerName) {
    world.run_job({});
    relabel(kube::types::kServices, "demo-worker-1", "training.kubeflow.org/replica-index", "x");
    world.settle();
    EXPECT_EQ(controller_of(kube::types::kServices, "demo-worker-1"), "");
    EXPECT_EQ(told("ReleasedService"), 1);
}

TEST_F(ClaimsTest, TestClaimPodsDoesNotClaimWhatIsBeingDeleted) {
    make_pod_by_hand({});
    world.set_phase("demo-worker-0", "Running");
    world.delete_pod("demo-worker-0");
    const std::string uid = world.uid("demo-worker-0");
    world.create_job({});
    world.settle();
    EXPECT_EQ(controller_of(kube::types::kPods, "demo-worker-0"), "");
    world.reap();
    world.run_for(2min);
    EXPECT_NE(world.uid("demo-worker-0"), uid);
    EXPECT_EQ(controller_of(kube::types::kPods, "demo-worker-0"), job_uid());
    EXPECT_EQ(told("AdoptedPod"), 0);
}

// --- what follows from it

TEST_F(ClaimsTest, ALabelThatComesLaterIsAClaimToo) {
    world.create_job({.name = "other"});
    make_pod_by_hand({.job = "elsewhere"});
    world.create_job({});
    world.settle();
    EXPECT_EQ(controller_of(kube::types::kPods, "demo-worker-0"), "");
    relabel(kube::types::kPods, "demo-worker-0", "training.kubeflow.org/job-name", "demo");
    world.settle();
    EXPECT_EQ(controller_of(kube::types::kPods, "demo-worker-0"), job_uid());
}

TEST_F(ClaimsTest, APodThatIsRelabelledMovesToTheOtherJob) {
    world.run_job({.name = "other", .workers = 1});
    world.create_job({.workers = 1});
    world.settle();
    world.set_all("Running");
    world.settle();
    world.scale_workers("demo", 2);
    relabel(kube::types::kPods, "other-worker-0", "training.kubeflow.org/job-name", "demo");
    relabel(kube::types::kPods, "other-worker-0", "training.kubeflow.org/replica-index", "1");
    world.run_for(1min);
    world.reap();
    world.run_for(5min);
    // One pod for each replica, whichever of them was first.
    EXPECT_EQ(world.pods().size(), 5u);
    for (const std::string& pod : world.pods()) {
        const std::string label = std::string(world.object(kube::types::kPods, pod)
                                                  ->at("metadata")
                                                  .at("labels")
                                                  .at("training.kubeflow.org/job-name")
                                                  .as_string());
        EXPECT_EQ(controller_of(kube::types::kPods, pod), job_uid(label)) << pod;
    }
}

TEST_F(ClaimsTest, APodOfAnyNameIsTheReplicaThatItsLabelsSay) {
    make_pod_by_hand({.name = "by-hand", .index = 1});
    world.create_job({});
    world.settle();
    EXPECT_THAT(world.pods(), ElementsAre("by-hand", "demo-master-0", "demo-worker-0"));
    world.set_phase("by-hand", "Failed", 1);
    world.settle();
    EXPECT_THAT(world.pods(), ElementsAre("demo-master-0", "demo-worker-0", "demo-worker-1"))
        << "its successor has the replica's name";
}

TEST_F(ClaimsTest, OfTwoPodsForAReplicaOursStays) {
    world.run_job({});
    const std::string uid = world.uid("demo-worker-0");
    make_pod_by_hand({.name = "a-second", .index = 0});
    world.settle();
    EXPECT_THAT(world.pods(), ElementsAre("demo-master-0", "demo-worker-0", "demo-worker-1"));
    EXPECT_EQ(world.uid("demo-worker-0"), uid);
    EXPECT_EQ(world.restarts("demo"), 0);
    EXPECT_THAT(summary(world.status("demo")), ElementsAre("Created", "Running"));
}

TEST_F(ClaimsTest, APodBeyondTheWantedNumberIsAdoptedAndGoes) {
    world.run_job({});
    make_pod_by_hand({.name = "demo-worker-7", .index = 7});
    world.settle();
    EXPECT_THAT(world.pods(), SizeIs(3));
    EXPECT_FALSE(world.status("demo").finished());
}

TEST_F(ClaimsTest, AnotherControllersJobAdoptsNothing) {
    make_pod_by_hand({});
    json::object object = job_object({});
    object["spec"].as_object()["runPolicy"].as_object()["managedBy"] = "kueue.x-k8s.io/multikueue";
    ASSERT_TRUE(world.wait(world.client.create(pytorch().resource, "default", std::move(object)))
                    .has_value());
    world.settle();
    EXPECT_EQ(controller_of(kube::types::kPods, "demo-worker-0"), "");
    EXPECT_EQ(world.transport.writes, 0);
}

// kubectl delete --cascade=orphan, and the manifest once more: the training continues.
TEST_F(ClaimsTest, AJobThatIsMadeAgainTakesItsPodsBack) {
    world.run_job({});
    std::vector<std::string> uids;
    for (const std::string& pod : world.pods()) uids.push_back(world.uid(pod));
    kube::DeleteOptions orphan;
    orphan.propagation = kube::Propagation::kOrphan;
    ASSERT_TRUE(
        world.wait(world.client.remove(pytorch().resource, "default", "demo", orphan)).has_value());
    world.settle();
    ASSERT_EQ(controller_of(kube::types::kPods, "demo-worker-0"), "");
    world.create_job({});
    world.settle();
    std::vector<std::string> now;
    for (const std::string& pod : world.pods()) now.push_back(world.uid(pod));
    EXPECT_EQ(now, uids);
    EXPECT_EQ(controller_of(kube::types::kPods, "demo-worker-0"), job_uid());
    EXPECT_THAT(summary(world.status("demo")), ElementsAre("Created", "Running"));
    EXPECT_EQ(world.restarts("demo"), 0);
}

}  // namespace
}  // namespace muster::operators::operator_claims_test
