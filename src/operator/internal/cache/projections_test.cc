#include "operator/internal/cache/projections.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <limits>

#include "kube/values/time.h"
#include "operator/internal/job_fixture.h"

namespace muster::operators::projections_test {
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
    EXPECT_EQ(pod.owner.kind, &pytorch());
    EXPECT_EQ(pod.owner.name, "demo");
    EXPECT_EQ(pod.owner.uid, JobUid("job"));
    EXPECT_EQ(pod.slot, (SlotId{1, 3}));
    EXPECT_FALSE(pod.label_mismatch);
    EXPECT_TRUE(pod.named_as_replica);
    EXPECT_EQ(pod.phase, PodPhase::kRunning);
    EXPECT_FALSE(pod.deleting);
    EXPECT_EQ(pod.exits, 0);
}

// training-operator pkg/core/... TestReplicaIndex and TestReplicaType: missing or bad labels.
TEST(Records, APodThatIsNoReplicaIsNotKept) {
    const auto without = [](std::string_view label, std::optional<std::string> instead,
                            bool controlled) {
        json::value object = pod_object();
        json::object& labels = object.at("metadata").at("labels").as_object();
        labels.erase(label);
        if (instead) labels[label] = *instead;
        if (!controlled) object.at("metadata").as_object().erase("ownerReferences");
        return project_pod(object);
    };
    for (std::optional<std::string> index :
         {std::optional<std::string>(), std::optional<std::string>(""),
          std::optional<std::string>("x"), std::optional<std::string>("-1"),
          std::optional<std::string>("1x"), std::optional<std::string>("99999999999")}) {
        EXPECT_FALSE(without(jobs::labels::kReplicaIndex, index, false));
        EXPECT_TRUE((*without(jobs::labels::kReplicaIndex, index, true))->label_mismatch);
    }
    EXPECT_FALSE(without(jobs::labels::kReplicaType, "chief", false));
    EXPECT_TRUE((*without(jobs::labels::kReplicaType, std::nullopt, true))->label_mismatch);
    EXPECT_FALSE(without(jobs::labels::kJobName, std::nullopt, false));
    EXPECT_TRUE((*without(jobs::labels::kJobName, "other", true))->label_mismatch);
    EXPECT_FALSE(without(jobs::labels::kOperatorName, "other-controller", true));

    json::value adopted = pod_object();
    adopted.at("metadata").at("ownerReferences").at(1).as_object()["kind"] = "ReplicaSet";
    EXPECT_FALSE(project_pod(adopted).has_value());
}

// mpi-operator v0.7, pkg/controller/mpi_job_controller.go: newWorker, defaultLabels.
json::value mpi_operators_pod(std::string_view name, std::string_view role) {
    json::value object = pod_object();
    json::object& metadata = object.at("metadata").as_object();
    metadata["name"] = name;
    metadata["labels"] = {{"training.kubeflow.org/operator-name", "mpi-operator"},
                          {"training.kubeflow.org/job-name", "demo"},
                          {"training.kubeflow.org/job-role", role}};
    metadata["ownerReferences"].as_array()[1].as_object()["kind"] = "MPIJob";
    return object;
}

TEST(Records, AWorkerOfTheMpiOperatorHasARoleForAType) {
    json::value object = mpi_operators_pod("demo-worker-3", "worker");
    object.at("metadata").at("labels").as_object()["training.kubeflow.org/replica-index"] = "3";
    const PodRecord pod = project(object);
    EXPECT_EQ(pod.owner.kind->resource.kind, "MPIJob");
    EXPECT_EQ(pod.owner.kind->replica_types[pod.slot.type].name, "Worker");
    EXPECT_EQ(pod.slot.index, 3);
    EXPECT_FALSE(pod.label_mismatch);
}

// The same, where the launcher is a worker: the index counts that one first.
TEST(Records, AWorkerOfTheMpiOperatorIsTheOneOfItsName) {
    json::value object = mpi_operators_pod("demo-worker-0", "worker");
    object.at("metadata").at("labels").as_object()["training.kubeflow.org/replica-index"] = "1";
    EXPECT_EQ(project(object).slot.index, 0);
    EXPECT_TRUE(project(object).named_as_replica);
    object.at("metadata").as_object()["name"] = "another-name";
    EXPECT_EQ(project(object).slot.index, 1);
    object.at("metadata").as_object()["name"] = "demo-worker-x";
    EXPECT_TRUE(project(object).label_mismatch);
}

TEST(Records, AWorkerOfOursIsTheOneOfItsNameToo) {
    json::value object = mpi_operators_pod("demo-worker-0", "worker");
    json::object& labels = object.at("metadata").at("labels").as_object();
    labels["training.kubeflow.org/replica-type"] = "worker";
    labels["training.kubeflow.org/replica-index"] = "1";
    EXPECT_EQ(project(object).slot.index, 0);
    EXPECT_TRUE(project(object).named_as_replica);
}

TEST(Records, APodsEndIsThatOfItsLastContainerOrWhatElseTellsOfIt) {
    const auto at = [](const char* time) { return kube::parse_time(time); };
    json::value object = pod_object();
    object.at("metadata").as_object()["creationTimestamp"] = "2026-01-01T00:00:00Z";
    object.at("metadata").as_object()["annotations"] = {{"muster.dev/in-a-row", "3"}};
    json::object& status = object.as_object()["status"].emplace_object();
    status["phase"] = "Running";
    EXPECT_EQ(project(object).created, at("2026-01-01T00:00:00Z"));
    EXPECT_EQ(project(object).restart_history.in_a_row, 3);
    EXPECT_EQ(project(object).ended_at, std::nullopt);
    status["phase"] = "Failed";
    status["conditions"] = {{{"type", "Ready"}, {"lastTransitionTime", "2026-01-01T00:00:09Z"}},
                            {{"type", "Other"}, {"lastTransitionTime", "2026-01-01T00:00:07Z"}}};
    EXPECT_EQ(project(object).ended_at, at("2026-01-01T00:00:09Z")) << "evicted";
    status["containerStatuses"] = {
        {{"name", "a"}, {"state", {{"terminated", {{"finishedAt", "2026-01-01T00:00:05Z"}}}}}},
        {{"name", "b"}, {"state", {{"terminated", {{"finishedAt", "2026-01-01T00:00:06Z"}}}}}}};
    EXPECT_EQ(project(object).ended_at, at("2026-01-01T00:00:06Z"));
    status["phase"] = "Running";
    object.at("metadata").as_object()["deletionTimestamp"] = "2026-01-01T00:00:40Z";
    object.at("metadata").as_object()["deletionGracePeriodSeconds"] = 30;
    EXPECT_EQ(project(object).ended_at, at("2026-01-01T00:00:10Z")) << "when it was asked to go";
}

// mpi-operator v0.8, newLauncherJob.
TEST(Records, APodOfTheBatchJobOfALauncherIsNobodysUntilItLetsGo) {
    const auto owned_by = [](std::string_view kind, std::string_view version) {
        json::value object = mpi_operators_pod("demo-launcher-x7k2p", "launcher");
        json::object& owner = object.at("metadata").at("ownerReferences").as_array()[1].as_object();
        owner["kind"] = kind;
        owner["apiVersion"] = version;
        owner["name"] = "demo-launcher";
        return object;
    };
    const PodRecord held = project(owned_by("Job", "batch/v1"));
    EXPECT_TRUE(held.of_batch_job);
    EXPECT_TRUE(held.is_orphan());
    EXPECT_EQ(held.owner.name, "demo");
    EXPECT_EQ(held.owner.kind->replica_types[held.slot.type].name, "Launcher");
    EXPECT_FALSE(held.named_as_replica);

    EXPECT_FALSE(project_pod(owned_by("Job", "example.com/v1")));
    EXPECT_FALSE(project_pod(owned_by("ReplicaSet", "apps/v1")));
    json::value of_another = owned_by("Job", "batch/v1");
    of_another.at("metadata").at("ownerReferences").as_array()[1].as_object()["name"] = "nightly";
    EXPECT_FALSE(project_pod(of_another)) << "that makes pods for itself";
    json::value worker = owned_by("Job", "batch/v1");
    worker.at("metadata").at("labels").as_object()["training.kubeflow.org/job-role"] = "worker";
    worker.at("metadata").as_object()["name"] = "demo-worker-0";
    EXPECT_FALSE(project_pod(worker)) << "no batch Job ever made one";

    json::value let_go = owned_by("Job", "batch/v1");
    let_go.at("metadata").as_object().erase("ownerReferences");
    EXPECT_FALSE(project(let_go).of_batch_job);
    EXPECT_TRUE(project(let_go).is_orphan());
}

TEST(Records, APodThatNobodyControlsBelongsToTheJobThatItNames) {
    json::value object = pod_object();
    object.at("metadata").as_object().erase("ownerReferences");
    const PodRecord orphan = project(object);
    EXPECT_TRUE(orphan.is_orphan());
    EXPECT_EQ(orphan.owner.name, "demo");
    EXPECT_EQ(orphan.slot, (SlotId{1, 3}));
    object.at("metadata").as_object()["name"] = "made-by-hand";
    EXPECT_FALSE(project(object).named_as_replica);
}

TEST(Records, RestartsAndTheirHistory) {
    json::value object = pod_object();
    status_of(object)["initContainerStatuses"] =
        json::parse(R"([{"name": "init", "restartCount": 1}])");
    status_of(object)["containerStatuses"] = json::parse(R"([
        {"name": "pytorch", "restartCount": 2}, {"name": "sidecar", "restartCount": 3}])");
    object.at("metadata").as_object()["annotations"] =
        json::parse(R"({"muster.dev/restarts": "4", "muster.dev/generation": "-3"})");
    const PodRecord pod = project(object);
    EXPECT_EQ(pod.node_restarts, 6);
    EXPECT_EQ(pod.restart_history.restarts, 4);
    EXPECT_EQ(pod.restart_history.generation, 0) << "not one of ours";
}

TEST(Records, APodOfTheLargestGenerationIsOfItsJobs) {
    json::object of_job = job_object({});
    of_job["metadata"].as_object()["uid"] = "job";
    of_job["status"] = {{"restartGeneration", std::numeric_limits<std::int32_t>::max()}};
    const std::int32_t generation =
        project_job(pytorch(), of_job, nullptr).record->status.unpack().restart_generation.value();
    json::value object = pod_object();
    object.at("metadata").as_object()["annotations"] = {
        {"muster.dev/generation", std::to_string(generation)}};
    EXPECT_EQ(project(object).restart_history.generation, generation);
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

struct ProblemRow {
    std::string name;
    std::string status;
    std::string reason;
    std::string message;
};
class AbnormalPod : public ::testing::TestWithParam<ProblemRow> {};

// training-operator pkg/core/pod.go, GetAbnormalPods and what its callers report.
TEST_P(AbnormalPod, IsTold) {
    json::value object = pod_object();
    object.at("status") = json::parse(GetParam().status);
    PodRecord pod = project(object);
    const PodProblem found = pod.problem ? *pod.problem : PodProblem{};
    EXPECT_EQ(found.reason, GetParam().reason);
    EXPECT_EQ(found.message, GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    Upstream, AbnormalPod,
    ::testing::Values(
        ProblemRow{"Waiting",
                   R"({"phase": "Pending", "containerStatuses": [{"name": "pytorch", "state":
                       {"waiting": {"reason": "ImagePullBackOff", "message": "no such image"}}}]})",
                   "ImagePullBackOff",
                   "Error pod demo-worker-3 container pytorch waiting message: no such image"},
        ProblemRow{"WaitingWithoutMessage",
                   R"({"phase": "Pending", "containerStatuses": [{"name": "pytorch", "state":
                       {"waiting": {"reason": "ContainerCreating"}}}]})",
                   "", ""},
        ProblemRow{"Terminated",
                   R"({"phase": "Running", "containerStatuses": [{"name": "pytorch", "state":
                       {"terminated": {"reason": "Error", "exitCode": 2, "message": "oh"}}}]})",
                   "Error",
                   "Error pod demo-worker-3 container pytorch exitCode: 2 terminated message: oh"},
        ProblemRow{"TerminatedWell",
                   R"({"phase": "Running", "containerStatuses": [{"name": "pytorch", "state":
                       {"terminated": {"reason": "Completed", "exitCode": 0}}}]})",
                   "", ""},
        ProblemRow{"TheNewestConditionCounts",
                   R"({"phase": "Pending", "conditions": [
                       {"type": "Ready", "status": "False", "reason": "New", "message": "new",
                        "lastTransitionTime": "2026-01-02T00:00:00Z"},
                       {"type": "PodScheduled", "status": "False", "reason": "Old",
                        "message": "old", "lastTransitionTime": "2026-01-01T00:00:00Z"}]})",
                   "New", "Error pod demo-worker-3 condition message: new"},
        ProblemRow{"InitContainer",
                   R"({"phase": "Pending", "initContainerStatuses": [{"name": "init", "state":
                       {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off"}}}]})",
                   "CrashLoopBackOff",
                   "Error pod demo-worker-3 container init waiting message: back-off"},
        ProblemRow{"Unschedulable",
                   R"({"phase": "Pending", "conditions": [
                       {"type": "PodScheduled", "status": "False", "reason": "Unschedulable",
                        "message": "0/3 nodes", "lastTransitionTime": "2026-01-01T00:00:00Z"}]})",
                   "Unschedulable", "Error pod demo-worker-3 condition message: 0/3 nodes"},
        ProblemRow{"AllWell", R"({"phase": "Running", "conditions": [
                       {"type": "Ready", "status": "True", "message": "m",
                        "lastTransitionTime": "2026-01-01T00:00:00Z"}]})",
                   "", ""},
        ProblemRow{"Ended",
                   R"({"phase": "Failed", "containerStatuses": [{"name": "pytorch", "state":
                       {"terminated": {"reason": "Error", "exitCode": 2}}}]})",
                   "", ""}),
    [](const auto& info) { return info.param.name; });

TEST(Records, AProblemIsToldWhenItChanges) {
    PodRecord fine = *make_pod({});
    PodRecord stuck = fine;
    stuck.problem = std::make_shared<const PodProblem>(PodProblem{"Unschedulable", "m"});
    EXPECT_EQ(pod_news(&fine, stuck),
              (std::vector<JobEvent>{{kube::EventType::kWarning, "Unschedulable", "m"}}));
    EXPECT_THAT(pod_news(&stuck, stuck), IsEmpty());
    EXPECT_THAT(pod_news(&stuck, fine), IsEmpty());
}

TEST(Records, ARefusalOfASchedulerIsKeptWithItsTime) {
    const auto read = [](const std::string& status) {
        json::value object = pod_object();
        object.at("metadata").as_object()["creationTimestamp"] = "2026-01-01T00:00:00Z";
        object.at("status") = json::parse(status);
        return project(object);
    };
    const auto refused = [](const std::string& rest) {
        return R"({"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False",
                   "reason": "Unschedulable", )" +
               rest + "}]}";
    };
    const PodRecord pod =
        read(refused(R"("message": "0/3 nodes", "lastTransitionTime": "2026-01-01T00:00:09Z")"));
    ASSERT_TRUE(pod.problem);
    EXPECT_EQ(pod.problem->refused_since, kube::parse_time("2026-01-01T00:00:09Z"));
    EXPECT_EQ(pod.problem->scheduler_words(), "0/3 nodes");
    EXPECT_EQ(read(refused(R"("message": "")")).problem->refused_since, pod.created)
        << "without a time of its own";
    const std::string many(10'000, 'x');
    EXPECT_EQ(read(refused(R"("message": ")" + many + '"')).problem->scheduler_words().size(),
              1024u);
    // It waits at a gate, and no node was looked for; or it has one.
    for (const std::string other :
         {R"({"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False",
              "reason": "SchedulingGated", "message": "m"}]})",
          R"({"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "True",
              "reason": "Unschedulable"}]})",
          R"({"phase": "Pending"})"}) {
        const PodRecord waits = read(other);
        EXPECT_FALSE(waits.problem && waits.problem->refused_since) << other;
    }
}

// The API server sets the condition at a gate, and its time stays when a scheduler changes its reason
// (k8s.io/kubernetes pkg/api/v1/pod, UpdatePodCondition).
TEST(Records, TheTimeAtAGateIsNoTimeWithoutANode) {
    const auto at = [](const char* time) { return kube::parse_time(time).value(); };
    const auto read = [&](const char* reason, const PodRecord* before, WallTime now,
                          const char* told = "2026-01-01T00:00:00Z") {
        json::value object = pod_object();
        object.at("status") = json::parse(fmt::format(
            R"({{"phase": "Pending", "conditions": [{{"type": "PodScheduled", "status": "False",
                "reason": "{}", "message": "m", "lastTransitionTime": "{}"}}]}})",
            reason, told));
        return **project_pod(object, jobs::all_kinds(), before, now);
    };
    const PodRecord gated = read("SchedulingGated", nullptr, at("2026-01-01T00:00:00Z"));
    EXPECT_TRUE(gated.gated);
    const WallTime opened = at("2026-01-01T01:00:00Z");
    const PodRecord refused = read("Unschedulable", &gated, opened);
    EXPECT_FALSE(refused.gated);
    EXPECT_EQ(refused.problem->refused_since, opened);
    const PodRecord again = read("Unschedulable", &refused, opened + std::chrono::hours(1));
    EXPECT_EQ(again.problem->refused_since, opened) << "it is refused since then";
    const PodRecord lost =
        read("Unschedulable", &again, opened + std::chrono::hours(3), "2026-01-01T03:30:00Z");
    EXPECT_EQ(lost.problem->refused_since, at("2026-01-01T03:30:00Z")) << "it had a node meanwhile";
    const PodRecord first = read("Unschedulable", nullptr, opened);
    EXPECT_EQ(first.problem->refused_since, at("2026-01-01T00:00:00Z")) << "no gate was seen";
}

// training-operator pkg/controller.v1/common, TestManagedByExternalController.
TEST(Records, TestManagedByExternalController) {
    const auto foreign = [](std::optional<json::value> managed_by) {
        json::object object = job_object({});
        if (managed_by)
            object["spec"].as_object()["runPolicy"].as_object()["managedBy"] = *managed_by;
        return project_job(pytorch(), object, nullptr).record->managed_elsewhere;
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
    const JobPtr job = project_job(pytorch(), object, nullptr).record;
    EXPECT_EQ(job->facts, nullptr);
    ASSERT_NE(job->problem, nullptr);
    EXPECT_EQ(job->uid.get(), "u");
    EXPECT_TRUE(job->status.unpack().finished());
}

TEST(Records, ASpecIsReadOncePerGeneration) {
    json::object object = job_object({.workers = 3});
    object["metadata"].as_object()["uid"] = "u";
    object["metadata"].as_object()["generation"] = 1;
    const ProjectedJob first = project_job(pytorch(), object, nullptr);
    ASSERT_TRUE(first.job);
    EXPECT_EQ(first.record->facts->types.at(1).wanted, 3);

    object["status"] = json::parse(R"({"startTime": "2026-01-01T00:00:00Z"})");
    const ProjectedJob same = project_job(pytorch(), object, first.record.get());
    EXPECT_EQ(same.job, nullptr);
    EXPECT_EQ(same.record->facts, first.record->facts);
    EXPECT_EQ(same.record->status.unpack().start_time, "2026-01-01T00:00:00Z");

    object["metadata"].as_object()["annotations"] = json::object{{"muster.dev/restart", "group"}};
    const ProjectedJob grouped = project_job(pytorch(), object, same.record.get());
    ASSERT_TRUE(grouped.job) << "an annotation makes no generation";
    EXPECT_TRUE(grouped.record->facts->types.at(1).restarts_all);

    object["metadata"].as_object()["generation"] = 2;
    EXPECT_TRUE(project_job(pytorch(), object, grouped.record.get()).job);
    object["metadata"].as_object()["uid"] = "successor";
    EXPECT_TRUE(project_job(pytorch(), object, grouped.record.get()).job);
}

}  // namespace
}  // namespace muster::operators::projections_test
