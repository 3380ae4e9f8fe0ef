#include "cli/internal/migrate/difference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "kube/values/time.h"

namespace muster::cli::difference_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using When = Difference::When;

const WallTime kNow = *kube::parse_time("2026-03-01T12:00:00Z");

/// A job of a master and workers, with these fields of runPolicy and status.
std::vector<Difference> judge(std::string_view run_policy, std::string_view status,
                              std::string_view kind = "PyTorchJob",
                              std::string_view replicas = R"("pytorchReplicaSpecs": {"Master": {
        "replicas": 1, "restartPolicy": "OnFailure", "template": {"spec": {"containers": [
        {"name": "pytorch", "image": "i", "command": ["c"]}]}}}})",
                              bool batch_launcher = false) {
    const json::value object = json::parse(fmt::format(
        R"({{"apiVersion": "kubeflow.org/v1", "kind": "{}", "metadata": {{"name": "a",
            "namespace": "ml"}}, "spec": {{"runPolicy": {}, {}}}, "status": {}}})",
        kind, run_policy, replicas, status));
    return differences_of(*jobs::find_kind("kubeflow.org/v1", kind), object, batch_launcher, kNow);
}

auto difference(When when, std::string_view field, std::string_view what) {
    return AllOf(Field(&Difference::when, when), Field(&Difference::field, field),
                 Field(&Difference::what, HasSubstr(std::string(what))));
}

constexpr std::string_view kRuns =
    R"({"startTime": "2026-03-01T11:00:00Z", "conditions": [{"type": "Running", "status": "True"}]})";
constexpr std::string_view kDone =
    R"({"startTime": "2026-03-01T11:00:00Z", "completionTime": "2026-03-01T11:30:00Z",
        "conditions": [{"type": "Succeeded", "status": "True"}]})";

TEST(DifferenceTest, AnOrdinaryJobNoticesNothing) {
    EXPECT_THAT(judge("{}", kRuns), IsEmpty());
    EXPECT_THAT(judge("{}", kDone), IsEmpty());
    EXPECT_THAT(judge("{}", "{}"), IsEmpty());
}

TEST(DifferenceTest, DeadlinesThatNobodyLookedAt) {
    EXPECT_THAT(judge(R"({"activeDeadlineSeconds": 60})", kRuns),
                ElementsAre(difference(When::kNow, "spec.runPolicy.activeDeadlineSeconds",
                                       "its 60 s ended 3540 s ago")));
    EXPECT_THAT(judge(R"({"activeDeadlineSeconds": 7200})", kRuns),
                ElementsAre(difference(When::kThen, "spec.runPolicy.activeDeadlineSeconds",
                                       "2026-03-01T13:00:00Z")));
    EXPECT_THAT(judge(R"({"activeDeadlineSeconds": 9223372036854775807})", kRuns),
                ElementsAre(difference(When::kThen, "spec.runPolicy.activeDeadlineSeconds",
                                       "fires at its time")));
    EXPECT_THAT(judge(R"({"activeDeadlineSeconds": 60})", kDone), IsEmpty());
    EXPECT_THAT(judge(R"({"activeDeadlineSeconds": 60})", "{}"), IsEmpty());
}

TEST(DifferenceTest, JobsThatWouldBeDeleted) {
    EXPECT_THAT(judge(R"({"ttlSecondsAfterFinished": 60})", kDone),
                ElementsAre(difference(When::kNow, "spec.runPolicy.ttlSecondsAfterFinished",
                                       "ended 1740 s ago: the job is deleted at once")));
    EXPECT_THAT(judge(R"({"ttlSecondsAfterFinished": 7200})", kDone), IsEmpty());
    EXPECT_THAT(judge(R"({"ttlSecondsAfterFinished": 60})", kRuns), IsEmpty());
    EXPECT_THAT(judge(R"({"ttlSecondsAfterFinished": 60})",
                      R"({"conditions": [{"type": "Failed", "status": "True"}]})"),
                ElementsAre(difference(When::kNow, "spec.runPolicy.ttlSecondsAfterFinished",
                                       "has no completionTime")));
}

TEST(DifferenceTest, RestartsThatCountOrComeTogether) {
    EXPECT_THAT(judge(R"({"backoffLimit": 3})", kRuns),
                ElementsAre(difference(When::kThen, "spec.runPolicy.backoffLimit", "after 3")));
    EXPECT_THAT(judge(R"({"backoffLimit": 3})", kDone), IsEmpty());
    constexpr std::string_view kPaddle = R"("paddleReplicaSpecs": {"Worker": {
        "replicas": 2, "restartPolicy": "OnFailure", "template": {"spec": {"containers": [
        {"name": "paddle", "image": "i", "command": ["c"]}]}}}})";
    EXPECT_THAT(judge("{}", kRuns, "PaddleJob", kPaddle),
                ElementsAre(difference(When::kThen, "", "replica of Worker fails")));
}

TEST(DifferenceTest, JobsThatWouldBeRefused) {
    EXPECT_THAT(judge(R"({"cleanPodPolicy": "Some"})", kRuns),
                ElementsAre(difference(When::kNow, "spec.runPolicy.cleanPodPolicy",
                                       "not worked on until that is corrected")));
    EXPECT_THAT(judge(R"({"cleanPodPolicy": "Some"})", kDone), IsEmpty()) << "nobody minds now";
}

TEST(DifferenceTest, WhatOthersManageIsLeftAlone) {
    EXPECT_THAT(
        judge(R"({"managedBy": "kueue.x-k8s.io/multikueue", "activeDeadlineSeconds": 60})", kRuns),
        IsEmpty());
}

TEST(DifferenceTest, ALauncherThatIsAJobIsTakenOver) {
    EXPECT_THAT(judge("{}", kRuns, "PyTorchJob", R"("pytorchReplicaSpecs": {"Master": {
        "template": {"spec": {"containers": [{"name": "pytorch", "image": "i"}]}}}})",
                      true),
                ElementsAre(difference(When::kThen, "", "its launcher's pod continues")));
    EXPECT_THAT(judge("{}", kDone, "PyTorchJob", R"("pytorchReplicaSpecs": {"Master": {
        "template": {"spec": {"containers": [{"name": "pytorch", "image": "i"}]}}}})",
                      true),
                IsEmpty());
}

TEST(DifferenceTest, PodsThatWereMadeForKubectlOrSsh) {
    const auto judged = [](std::string_view command, std::string_view status,
                           std::string_view annotations = "{}", std::string version = "v1") {
        const json::value object = json::parse(fmt::format(
            R"({{"apiVersion": "kubeflow.org/{}", "kind": "MPIJob", "metadata": {{"name": "a",
                "namespace": "ml", "annotations": {}}}, "spec": {{"mpiReplicaSpecs": {{
                "Launcher": {{"replicas": 1, "restartPolicy": "Never", "template": {{"spec": {{
                    "containers": [{{"name": "mpi", "image": "i", "command": ["mpirun"]}}]}}}}}},
                "Worker": {{"replicas": 2, "restartPolicy": "Never", "template": {{"spec": {{
                    "containers": [{{"name": "mpi", "image": "i", "command": {}}}]}}}}}}}}}},
                "status": {}}})",
            version, annotations, command, status));
        return differences_of(*jobs::find_kind("kubeflow.org/" + version, "MPIJob"), object, false,
                              kNow);
    };
    const std::string shell = "metadata.annotations[muster.dev/remote-shell]";
    const std::string kubectl = "metadata.annotations[muster.dev/kubectl-delivery]";
    EXPECT_THAT(
        judged("[]", kRuns),
        testing::Contains(difference(
            When::kNow, shell, "kubectl annotate mpijob -n ml a muster.dev/remote-shell=kubexec")));
    EXPECT_THAT(judged("[]", kRuns, R"({"muster.dev/remote-shell": "kubexec"})"),
                testing::Contains(difference(When::kThen, kubectl, "gets kubectl from")));
    EXPECT_THAT(judged(R"(["sleep"])", kRuns),
                testing::Contains(difference(When::kThen, kubectl, "gets kubectl from")));
    EXPECT_THAT(judged(R"(["sleep"])", kRuns, R"({"muster.dev/kubectl-delivery": "k"})"),
                testing::Each(testing::Not(difference(When::kThen, kubectl, ""))));
    EXPECT_THAT(
        judged("[]", kRuns, "{}", "v2beta1"),
        testing::Contains(difference(
            When::kNow, shell, "kubectl annotate mpijob -n ml a muster.dev/remote-shell=ssh")));
    for (const std::string_view command : {"[]", R"(["/usr/sbin/sshd"])"})
        EXPECT_THAT(judged(command, kRuns, R"({"muster.dev/remote-shell": "ssh"})", "v2beta1"),
                    testing::Each(testing::Not(difference(When::kThen, kubectl, ""))));
    for (const std::string_view status : {kDone, std::string_view("{}")})
        EXPECT_THAT(judged("[]", status),
                    testing::Each(testing::Not(difference(When::kNow, shell, ""))));
}

}  // namespace
}  // namespace muster::cli::difference_test
