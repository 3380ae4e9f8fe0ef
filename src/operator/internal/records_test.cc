#include "operator/internal/records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "operator/internal/job_fixture.h"

namespace muster::operators {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

json::value pod_object() {
    return json::parse(R"({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "name": "demo-worker-3", "namespace": "ns", "uid": "u3",
            "labels": {
                "training.kubeflow.org/operator-name": "pytorchjob-controller",
                "training.kubeflow.org/job-name": "demo",
                "training.kubeflow.org/replica-type": "worker",
                "training.kubeflow.org/replica-index": "3"},
            "ownerReferences": [
                {"apiVersion": "x/v1", "kind": "Other", "name": "o", "uid": "ou"},
                {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "name": "demo",
                 "uid": "job", "controller": true}]},
        "spec": {"containers": [{"name": "sidecar"}, {"name": "pytorch"}]},
        "status": {"phase": "Running"}})");
}

json::object& status_of(json::value& pod) { return pod.at("status").as_object(); }

PodRecord project(const json::value& object) {
    auto pod = project_pod(object);
    if (!pod.has_value()) {
        ADD_FAILURE() << "no record";
        return {};
    }
    return **pod;
}

TEST(Records, APodsIdentity) {
    const PodRecord pod = project(pod_object());
    EXPECT_EQ(pod.namespace_, "ns");
    EXPECT_EQ(pod.name, "demo-worker-3");
    EXPECT_EQ(pod.uid, "u3");
    EXPECT_EQ(pod.owner.kind, "PyTorchJob");
    EXPECT_EQ(pod.owner.name, "demo");
    EXPECT_EQ(pod.owner.uid, JobUid("job"));
    EXPECT_EQ(pod.replica, (jobs::ReplicaId{"Worker", 3}));
    EXPECT_EQ(pod.phase, PodPhase::kRunning);
    EXPECT_FALSE(pod.deleting);
    EXPECT_EQ(pod.exits, 0);
}

// training-operator pkg/core/... TestReplicaIndex and TestReplicaType: missing or bad labels.
TEST(Records, APodThatIsNoReplicaIsNotKept) {
    const auto without = [](std::string_view label, std::optional<std::string> instead) {
        json::value object = pod_object();
        json::object& labels = object.at("metadata").at("labels").as_object();
        labels.erase(label);
        if (instead) labels[label] = *instead;
        return project_pod(object).has_value();
    };
    EXPECT_FALSE(without(jobs::labels::kReplicaIndex, std::nullopt));
    for (const char* index : {"", "x", "-1", "1x", "99999999999"})
        EXPECT_FALSE(without(jobs::labels::kReplicaIndex, index)) << index;
    EXPECT_FALSE(without(jobs::labels::kReplicaType, std::nullopt));
    EXPECT_FALSE(without(jobs::labels::kReplicaType, "chief"));
    EXPECT_FALSE(without(jobs::labels::kOperatorName, "other-controller"));

    json::value orphan = pod_object();
    orphan.at("metadata").as_object().erase("ownerReferences");
    EXPECT_FALSE(project_pod(orphan).has_value());

    json::value adopted = pod_object();
    adopted.at("metadata").at("ownerReferences").at(1).as_object()["kind"] = "ReplicaSet";
    EXPECT_FALSE(project_pod(adopted).has_value());
}

TEST(Records, PhasesAndDeletion) {
    json::value object = pod_object();
    const std::pair<const char*, PodPhase> rows[] = {{"Pending", PodPhase::kPending},
                                                     {"Succeeded", PodPhase::kSucceeded},
                                                     {"Failed", PodPhase::kFailed},
                                                     {"Unknown", PodPhase::kUnknown}};
    for (auto [text, phase] : rows) {
        status_of(object)["phase"] = text;
        EXPECT_EQ(project(object).phase, phase) << text;
    }
    status_of(object).clear();
    EXPECT_EQ(project(object).phase, PodPhase::kPending);
    object.at("metadata").as_object()["deletionTimestamp"] = "2026-01-01T00:00:00Z";
    EXPECT_TRUE(project(object).deleting);
}

// Only the default container's exit code counts.
TEST(Records, TheExitCodeIsTheDefaultContainers) {
    json::value object = pod_object();
    status_of(object)["phase"] = "Failed";
    status_of(object)["containerStatuses"] = json::parse(R"([
        {"name": "sidecar", "state": {"terminated": {"exitCode": 1}}, "restartCount": 7},
        {"name": "pytorch", "state": {"terminated": {"exitCode": 137}}, "restartCount": 0}])");
    const PodRecord pod = project(object);
    EXPECT_EQ(pod.final_exit_code, 137);
    EXPECT_EQ(pod.exit_code, 137);
    EXPECT_EQ(pod.exits, 1);
    status_of(object)["containerStatuses"] = json::parse(R"([
        {"name": "pytorch", "state": {"running": {}}, "restartCount": 0},
        {"name": "sidecar", "state": {"terminated": {"exitCode": 1}}, "restartCount": 7}])");
    EXPECT_EQ(project(object).exits, 0);
}

TEST(Records, ARestartedContainerHasNoFinalExitCode) {
    json::value object = pod_object();
    status_of(object)["containerStatuses"] = json::parse(R"([
        {"name": "pytorch", "state": {"running": {}}, "restartCount": 2,
         "lastState": {"terminated": {"exitCode": 9}}}])");
    const PodRecord pod = project(object);
    EXPECT_EQ(pod.final_exit_code, std::nullopt);
    EXPECT_EQ(pod.exit_code, 9);
    EXPECT_EQ(pod.exits, 2);
}

TEST(Records, ValuesOfOddTypesAreIgnored) {
    json::value object = pod_object();
    status_of(object)["phase"] = 5;
    status_of(object)["containerStatuses"] = json::parse(
        R"([3, {"name": "pytorch", "state": {"terminated": {"exitCode": "x"}},
                "restartCount": 1e300}])");
    const PodRecord pod = project(object);
    EXPECT_EQ(pod.phase, PodPhase::kPending);
    EXPECT_EQ(pod.final_exit_code, 0);
    EXPECT_EQ(pod.exits, 1);
}

TEST(Records, ExitsAreToldOnceEach) {
    PodRecord before = *make_pod({});
    PodRecord once = before;
    once.exits = 1;
    once.exit_code = 3;
    EXPECT_EQ(pod_news(&before, once),
              (std::vector<JobEvent>{{kube::EventType::kNormal, "ExitedWithCode",
                                      "Pod: default.demo-worker-0 exited with code 3"}}));
    EXPECT_THAT(pod_news(&once, once), IsEmpty());
    PodRecord again = once;
    again.exits = 2;
    EXPECT_THAT(pod_news(&once, again), SizeIs(1));
    EXPECT_THAT(pod_news(nullptr, once), SizeIs(1)) << "its start was not seen";
    PodRecord successor = once;
    successor.uid = "successor";
    EXPECT_THAT(pod_news(&again, successor), SizeIs(1)) << "another pod of the same name";
}

struct TroubleRow {
    std::string name;
    std::string status;
    std::string reason;
    std::string message;
};
class AbnormalPod : public ::testing::TestWithParam<TroubleRow> {};

// training-operator pkg/core/pod.go, GetAbnormalPods and what its callers report.
TEST_P(AbnormalPod, IsTold) {
    json::value object = pod_object();
    object.at("status") = json::parse(GetParam().status);
    PodRecord pod = project(object);
    EXPECT_EQ(pod.trouble_reason, GetParam().reason);
    EXPECT_EQ(pod.trouble_message, GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    Upstream, AbnormalPod,
    ::testing::Values(
        TroubleRow{"Waiting",
                   R"({"phase": "Pending", "containerStatuses": [{"name": "pytorch", "state":
                       {"waiting": {"reason": "ImagePullBackOff", "message": "no such image"}}}]})",
                   "ImagePullBackOff",
                   "Error pod demo-worker-3 container pytorch waiting message: no such image"},
        TroubleRow{"WaitingWithoutMessage",
                   R"({"phase": "Pending", "containerStatuses": [{"name": "pytorch", "state":
                       {"waiting": {"reason": "ContainerCreating"}}}]})",
                   "", ""},
        TroubleRow{"Terminated",
                   R"({"phase": "Running", "containerStatuses": [{"name": "pytorch", "state":
                       {"terminated": {"reason": "Error", "exitCode": 2, "message": "oh"}}}]})",
                   "Error",
                   "Error pod demo-worker-3 container pytorch exitCode: 2 terminated message: oh"},
        TroubleRow{"TerminatedWell",
                   R"({"phase": "Running", "containerStatuses": [{"name": "pytorch", "state":
                       {"terminated": {"reason": "Completed", "exitCode": 0}}}]})",
                   "", ""},
        TroubleRow{"TheNewestConditionCounts",
                   R"({"phase": "Pending", "conditions": [
                       {"type": "Ready", "status": "False", "reason": "New", "message": "new",
                        "lastTransitionTime": "2026-01-02T00:00:00Z"},
                       {"type": "PodScheduled", "status": "False", "reason": "Old",
                        "message": "old", "lastTransitionTime": "2026-01-01T00:00:00Z"}]})",
                   "New", "Error pod demo-worker-3 condition message: new"},
        TroubleRow{"InitContainer",
                   R"({"phase": "Pending", "initContainerStatuses": [{"name": "init", "state":
                       {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off"}}}]})",
                   "CrashLoopBackOff",
                   "Error pod demo-worker-3 container init waiting message: back-off"},
        TroubleRow{"Unschedulable",
                   R"({"phase": "Pending", "conditions": [
                       {"type": "PodScheduled", "status": "False", "reason": "Unschedulable",
                        "message": "0/3 nodes", "lastTransitionTime": "2026-01-01T00:00:00Z"}]})",
                   "Unschedulable", "Error pod demo-worker-3 condition message: 0/3 nodes"},
        TroubleRow{"AllWell", R"({"phase": "Running", "conditions": [
                       {"type": "Ready", "status": "True", "message": "m",
                        "lastTransitionTime": "2026-01-01T00:00:00Z"}]})",
                   "", ""},
        TroubleRow{"Ended",
                   R"({"phase": "Failed", "containerStatuses": [{"name": "pytorch", "state":
                       {"terminated": {"reason": "Error", "exitCode": 2}}}]})",
                   "", ""}),
    [](const auto& info) { return info.param.name; });

TEST(Records, TroubleIsToldWhenItChanges) {
    PodRecord fine = *make_pod({});
    PodRecord stuck = fine;
    stuck.trouble_reason = "Unschedulable";
    stuck.trouble_message = "m";
    EXPECT_EQ(pod_news(&fine, stuck),
              (std::vector<JobEvent>{{kube::EventType::kWarning, "Unschedulable", "m"}}));
    EXPECT_THAT(pod_news(&stuck, stuck), IsEmpty());
    EXPECT_THAT(pod_news(&stuck, fine), IsEmpty());
}

// training-operator pkg/controller.v1/common, TestManagedByExternalController.
TEST(Records, TestManagedByExternalController) {
    const auto foreign = [](std::optional<json::value> managed_by) {
        json::object object = job_object({});
        if (managed_by)
            object["spec"].as_object()["runPolicy"].as_object()["managedBy"] = *managed_by;
        return (*project_job(pytorch(), object))->managed_elsewhere;
    };
    EXPECT_FALSE(foreign(std::nullopt));
    EXPECT_FALSE(foreign(nullptr));
    EXPECT_FALSE(foreign("kubeflow.org/training-operator"));
    EXPECT_TRUE(foreign(""));
    EXPECT_TRUE(foreign("kueue.x-k8s.io/multikueue"));
    EXPECT_TRUE(foreign("other-job-controller"));
}

TEST(Records, AJobThatCantBeReadKeepsItsIdentityAndStatus) {
    json::object object = job_object({});
    object["metadata"].as_object()["uid"] = "u";
    object["spec"] = json::object{{"pytorchReplicaSpecs", 3}};
    object["status"] = json::parse(R"({"conditions": [{"type": "Failed", "status": "True"}]})");
    const JobPtr job = *project_job(pytorch(), object);
    EXPECT_FALSE(job->job.has_value());
    EXPECT_EQ(job->metadata.uid, "u");
    EXPECT_TRUE(job->status.finished());
}

}  // namespace
}  // namespace muster::operators
