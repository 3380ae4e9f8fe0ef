#include "jobs/internal/mpijob.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jobs/internal/test_manifest.h"
#include "kube/values/base64.h"

// The texts and the rules of MPIJob; its objects as a whole are in golden/. Names in quotes or with
// Test are those of mpi-operator (pkg/controller, pkg/apis/kubeflow/validation).

namespace muster::jobs::mpijob_test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const JobKind& mpi_kind(std::string_view version) {
    return *find_kind(fmt::format("kubeflow.org/{}", version), "MPIJob");
}

json::value mpi_manifest(std::string_view version, const std::vector<Edit>& edits = {}) {
    json::value manifest = json::parse(R"({
        "kind": "MPIJob", "metadata": {"name": "foo", "namespace": "bar", "uid": "u-1"},
        "spec": {"mpiReplicaSpecs": {
            "Launcher": {"template": {"spec": {"containers": [
                {"name": "mpi", "image": "x", "command": ["mpirun"]}]}}},
            "Worker": {"replicas": 2, "template": {"spec": {"containers": [
                {"name": "mpi", "image": "x"}]}}}}}})");
    manifest.as_object()["apiVersion"] = fmt::format("kubeflow.org/{}", version);
    for (const Edit& edit : edits) apply_edit(manifest, edit.path, edit.value);
    return manifest;
}

Job mpi_job(std::string_view version, const std::vector<Edit>& edits = {}) {
    auto job = load(mpi_kind(version), mpi_manifest(version, edits));
    EXPECT_TRUE(job.has_value()) << job.error().message();
    return *std::move(job);
}

SeenPod worker(std::int32_t index, std::string address = {}) {
    return {{"Worker", index}, std::move(address)};
}

struct TextCase {
    std::string name;
    std::string version;
    std::vector<Edit> edits;
    std::vector<SeenPod> running;
    std::string text;
};

const Edit kNoWorkers{"spec/mpiReplicaSpecs/Worker", ""};
const Edit kLauncherToo{"spec/runLauncherAsWorker", "true"};
const Edit kFourSlots{"spec/slotsPerWorker", "4"};

/// apply_edit() splits at '/', which the annotation has.
Job with_addresses(std::string_view version, const std::vector<Edit>& edits) {
    json::value manifest = mpi_manifest(version, edits);
    manifest.at("metadata").as_object()["annotations"] =
        json::object{{kHostfileAnnotation, kHostfileAddresses}};
    return load(mpi_kind(version), manifest).value();
}

// TestNewConfigMap.
TEST(MpiJob, HasAHostfileInTheWordsOfItsImplementation) {
    const Edit intel{"spec/mpiImplementation", R"("Intel")"};
    const Edit mpich{"spec/mpiImplementation", R"("MPICH")"};
    for (const TextCase& row : std::vector<TextCase>{
             {"OpenMPI without slots",
              "v2beta1",
              {},
              {},
              "foo-worker-0.foo.bar.svc slots=1\nfoo-worker-1.foo.bar.svc slots=1\n"},
             {"OpenMPI with slots, empty workers", "v2beta1", {kFourSlots, kNoWorkers}, {}, ""},
             {"OpenMPI with slots and launcher as worker",
              "v2beta1",
              {kFourSlots, kLauncherToo},
              {},
              "foo-launcher.foo.bar.svc slots=4\nfoo-worker-0.foo.bar.svc slots=4\n"
              "foo-worker-1.foo.bar.svc slots=4\n"},
             {"IntelMPI with slots",
              "v2beta1",
              {kFourSlots, intel},
              {},
              "foo-worker-0.foo.bar.svc:4\nfoo-worker-1.foo.bar.svc:4\n"},
             {"MPICH, launcher alone",
              "v2beta1",
              {mpich, kNoWorkers, kLauncherToo},
              {},
              "foo-launcher.foo.bar.svc:1\n"},
             {"names of pods for kubectl",
              "v1",
              {kFourSlots},
              {},
              "foo-worker-0 slots=4\nfoo-worker-1 slots=4\n"},
             {"a launcher with a GPU is a host (v1)",
              "v1",
              {{"spec/mpiReplicaSpecs/Launcher/template/spec/containers/0/resources/limits",
                R"({"nvidia.com/gpu": 1})"}},
              {},
              "foo-launcher slots=1\nfoo-worker-0 slots=1\nfoo-worker-1 slots=1\n"},
             {"IntelMPI of v1alpha2",
              "v1alpha2",
              {{"spec/mpiDistribution", R"("IntelMPI")"}},
              {},
              "foo-worker-0:1\nfoo-worker-1:1\n"},
         }) {
        SCOPED_TRACE(row.name);
        EXPECT_EQ(hostfile(view_of(mpi_job(row.version, row.edits)), row.running), row.text);
    }
    const Job job = with_addresses("v2beta1", {});
    EXPECT_EQ(hostfile(view_of(job), {worker(1, "10.0.0.2")}),
              "foo-worker-0.foo.bar.svc slots=1\n10.0.0.2 slots=1\n");
}

// TestUpdateDiscoverHostsInConfigMap; upstream sorts by text, so 10 comes before 2.
TEST(MpiJob, TellsHorovodWhichHostsRun) {
    for (const TextCase& row : std::vector<TextCase>{
             {"no running workers", "v2beta1", {}, {}, ""},
             {"some, in their order",
              "v2beta1",
              {{"spec/mpiReplicaSpecs/Worker/replicas", "11"}},
              {worker(2), worker(10)},
              "echo foo-worker-2.foo.bar.svc\necho foo-worker-10.foo.bar.svc\n"},
             {"launcher as worker",
              "v2beta1",
              {kLauncherToo},
              {{{"Launcher", 0}, ""}, worker(0)},
              "echo foo-launcher.foo.bar.svc\necho foo-worker-0.foo.bar.svc\n"},
             {"the launcher is not a host", "v2beta1", {}, {{{"Launcher", 0}, ""}}, ""},
             {"with slots (v1)", "v1", {kFourSlots}, {worker(1)}, "echo foo-worker-1:4\n"},
         }) {
        SCOPED_TRACE(row.name);
        EXPECT_EQ(discover_hosts(view_of(mpi_job(row.version, row.edits)), row.running),
                  "#!/bin/sh\n" + row.text);
    }
}

TEST(MpiJob, KubexecEntersTheMainContainer) {
    EXPECT_THAT(kubexec(view_of(mpi_job("v1"))), HasSubstr("exec \"$pod\" -- /bin/sh -c \"$*\""));
    EXPECT_THAT(kubexec(view_of(mpi_job("v1", {{"spec/mainContainer", R"("mpi")"}}))),
                HasSubstr("exec \"$pod\" --container mpi -- "));
}

struct ProblemCase {
    std::string name;
    std::string version;
    std::vector<Edit> edits;
    std::vector<std::string> fields;  ///< empty: the manifest is good
};

// TestValidateMPIJob and the bad input that people write.
TEST(MpiJob, TestValidateMPIJob) {
    const std::string long_name = "\"" + std::string(55, 'a') + "\"";
    const std::string launcher = "spec.mpiReplicaSpecs.Launcher";
    const std::string worker = "spec.mpiReplicaSpecs.Worker";
    for (const ProblemCase& row : std::vector<ProblemCase>{
             {"valid", "v2beta1", {}, {}},
             {"valid with Intel", "v2beta1", {{"spec/mpiImplementation", R"("Intel")"}}, {}},
             {"valid without workers", "v2beta1", {kNoWorkers}, {}},
             {"empty replica specs",
              "v2beta1",
              {{"spec/mpiReplicaSpecs", "{}"}},
              {"spec.mpiReplicaSpecs"}},
             {"no launcher", "v2beta1", {{"spec/mpiReplicaSpecs/Launcher", ""}}, {launcher}},
             {"two launchers",
              "v2beta1",
              {{"spec/mpiReplicaSpecs/Launcher/replicas", "2"}},
              {launcher + ".replicas"}},
             {"two launchers (v1)",
              "v1",
              {{"spec/mpiReplicaSpecs/Launcher/replicas", "2"}},
              {launcher + ".replicas"}},
             {"no number of workers",
              "v2beta1",
              {{"spec/mpiReplicaSpecs/Worker/replicas", ""}},
              {worker + ".replicas"}},
             {"no workers in numbers",
              "v2beta1",
              {{"spec/mpiReplicaSpecs/Worker/replicas", "0"}},
              {worker + ".replicas"}},
             {"which v1 takes", "v1", {{"spec/mpiReplicaSpecs/Worker/replicas", "0"}}, {}},
             {"slotsPerWorker: 0",
              "v2beta1",
              {{"spec/slotsPerWorker", "0"}},
              {"spec.slotsPerWorker"}},
             {"unknown mpiImplementation",
              "v2beta1",
              {{"spec/mpiImplementation", R"("Open")"}},
              {"spec.mpiImplementation"}},
             {"unknown launcherCreationPolicy",
              "v2beta1",
              {{"spec/launcherCreationPolicy", R"("Later")"}},
              {"spec.launcherCreationPolicy"}},
             {"a policy that v2beta1 has not",
              "v2beta1",
              {{"spec/mpiReplicaSpecs/Worker/restartPolicy", R"("Always")"}},
              {worker + ".restartPolicy"}},
             {"and v1 has",
              "v1",
              {{"spec/mpiReplicaSpecs/Worker/restartPolicy", R"("ExitCode")"}},
              {}},
             {"a relative path",
              "v2beta1",
              {{"spec/sshAuthMountPath", R"("keys")"}},
              {"spec.sshAuthMountPath"}},
             {"a name whose launcher's is too long",
              "v2beta1",
              {{"metadata/name", long_name}},
              {"metadata.name"}},
             {"conflicting policies",
              "v1alpha2",
              {{"spec/cleanPodPolicy", R"("All")"},
               {"spec/runPolicy", R"({"cleanPodPolicy": "None", "backoffLimit": 1})"},
               {"spec/backoffLimit", "2"}},
              {"spec.cleanPodPolicy", "spec.backoffLimit"}},
             {"equal policies",
              "v1",
              {{"spec/cleanPodPolicy", R"("All")"},
               {"spec/runPolicy", R"({"cleanPodPolicy": "All"})"}},
              {}},
             {"an unknown policy where older versions had it",
              "v1",
              {{"spec/cleanPodPolicy", R"("Some")"}},
              {"spec.cleanPodPolicy"}},
             {"both names of the implementation",
              "v1alpha2",
              {{"spec/mpiDistribution", R"("MPICH")"}, {"spec/mpiImplementation", R"("Intel")"}},
              {"spec.mpiDistribution"}},
             {"no such container",
              "v1",
              {{"spec/mainContainer", R"("mpl")"}},
              {"spec.mainContainer"}},
             {"more workers than a ConfigMap names",
              "v2beta1",
              {{"spec/mpiReplicaSpecs/Worker/replicas", "100000"}},
              {worker + ".replicas"}},
         }) {
        SCOPED_TRACE(row.name);
        std::vector<std::string> fields;
        for (const Cause& cause :
             review(mpi_kind(row.version), mpi_manifest(row.version, row.edits)).problems)
            fields.push_back(cause.field);
        EXPECT_THAT(fields, ElementsAreArray(row.fields));
    }
}

// TestSetDefaults_MPIJob.
TEST(MpiJob, TestSetDefaults) {
    const Job second = mpi_job("v2beta1");
    EXPECT_EQ(second.replica("Launcher")->replicas, 1);
    EXPECT_EQ(second.replica("Launcher")->restart_policy, "OnFailure");
    EXPECT_EQ(second.replica("Worker")->restart_policy, "Never");
    EXPECT_EQ(second.run_policy.clean_pod_policy, "None");
    EXPECT_EQ(second.run_policy.backoff_limit, 6) << "that of the batch Job it was";
    EXPECT_EQ(view_of(second).spec.ssh_auth_mount_path, "/root/.ssh");

    const Job first = mpi_job("v1", {{"spec/mpiReplicaSpecs/Worker/replicas", ""}});
    EXPECT_EQ(first.replica("Launcher")->restart_policy, "Never");
    EXPECT_EQ(first.replica("Worker")->replicas, 0);
    EXPECT_FALSE(first.run_policy.backoff_limit);

    const Job old = mpi_job("v1alpha2", {{"spec/cleanPodPolicy", R"("Running")"},
                                         {"spec/backoffLimit", "3"},
                                         {"spec/activeDeadlineSeconds", "60"}});
    EXPECT_EQ(old.run_policy.clean_pod_policy, "Running");
    EXPECT_EQ(old.run_policy.backoff_limit, 3);
    EXPECT_EQ(old.run_policy.active_deadline_seconds, 60);
}

TEST(MpiJob, TheLauncherWaitsUnlessItIsToldNotTo) {
    const JobKind& kind = mpi_kind("v2beta1");
    EXPECT_EQ(kind.starts_after(mpi_job("v2beta1"), "Launcher"), "Worker");
    EXPECT_EQ(kind.starts_after(mpi_job("v2beta1"), "Worker"), "");
    EXPECT_EQ(
        kind.starts_after(mpi_job("v2beta1", {{"spec/launcherCreationPolicy", R"("AtStartup")"}}),
                          "Launcher"),
        "");
}

TEST(MpiJob, IsWarnedOf) {
    const auto fields = [](std::string_view version, const std::vector<Edit>& edits) {
        std::vector<std::string> all;
        for (const Cause& cause :
             warnings(review(mpi_kind(version), mpi_manifest(version, edits)).job))
            all.push_back(cause.reason + " " + cause.field);
        return all;
    };
    EXPECT_THAT(fields("v2beta1", {}), IsEmpty());
    EXPECT_THAT(fields("v1", {}), IsEmpty());
    EXPECT_THAT(fields("v2beta1", {{"spec/mainContainer", R"("mpi")"}}),
                ElementsAre("Ineffective spec.mainContainer"));
    EXPECT_THAT(fields("v1", {{"spec/sshAuthMountPath", R"("/k")"}}),
                ElementsAre("Ineffective spec.sshAuthMountPath"));
    EXPECT_THAT(fields("v1", {{"spec/mpiReplicaSpecs/Worker/replicas", "0"}}),
                ElementsAre("Doubtful spec.mpiReplicaSpecs.Worker"));
    EXPECT_THAT(fields("v1alpha2", {{"spec/cleanPodPolicy", R"("All")"},
                                    {"spec/mpiDistribution", R"("OpenMPI")"}}),
                ElementsAre("Deprecated apiVersion", "Deprecated spec.cleanPodPolicy",
                            "Deprecated spec.mpiDistribution"));
}

// TestNewLauncherAndWorker, the rows that golden/ does not have.
TEST(MpiJob, TestNewLauncherAndWorker) {
    const Job job = mpi_job(
        "v2beta1",
        {{"spec/sshAuthMountPath", R"("/home/mpi/.ssh")"},
         {"spec/mpiImplementation", R"("Intel")"},
         {"spec/slotsPerWorker", "5"},
         {"spec/mpiReplicaSpecs/Worker/replicas", "13"},
         {"spec/mpiReplicaSpecs/Worker/template/spec/containers/0/command", R"(["/entry"])"},
         {"spec/mpiReplicaSpecs/Launcher/template/spec/hostNetwork", "true"}});
    const kube::Pod worker = build_pod(job, {"Worker", 12}).value();
    EXPECT_THAT(worker.spec.containers[0].command, ElementsAre("/entry"));
    EXPECT_EQ(worker.spec.hostname, "foo-worker-12");
    EXPECT_EQ(worker.spec.volumes[0].secret->default_mode, std::nullopt)
        << "another user could not read it";
    const kube::Pod launcher = build_pod(job, {"Launcher", 0}).value();
    EXPECT_EQ(launcher.spec.rest.at("dnsPolicy"), "ClusterFirstWithHostNet");
    std::vector<std::string> env;
    for (const kube::EnvVar& variable : launcher.spec.containers[0].env)
        env.push_back(variable.name + "=" + variable.value);
    EXPECT_THAT(
        env,
        ElementsAre("K_MPI_JOB_ROLE=launcher", "I_MPI_HYDRA_HOST_FILE=/etc/mpi/hostfile",
                    "I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS=-o ConnectionAttempts=10",
                    "I_MPI_PERHOST=5", "NVIDIA_VISIBLE_DEVICES=", "NVIDIA_DRIVER_CAPABILITIES="));
}

// "Intel MPI env defaulting" of training-operator's mpijob_controller_test.go.
TEST(MpiJob, WhatTheUserSetsOfIntelsStays) {
    const auto names = [](const std::vector<Edit>& edits) {
        std::vector<std::string> all;
        for (const Variable& variable :
             mpi_environment(mpi_job("v1", edits), {"Launcher", 0}).value())
            if (variable.env.name.starts_with("I_MPI")) all.push_back(variable.env.name);
        return all;
    };
    const std::string env = "spec/mpiReplicaSpecs/Launcher/template/spec/containers/0/env";
    EXPECT_THAT(names({}), ElementsAre("I_MPI_HYDRA_BOOTSTRAP", "I_MPI_HYDRA_BOOTSTRAP_EXEC"));
    EXPECT_THAT(names({{env, R"([{"name": "I_MPI_HYDRA_BOOTSTRAP", "value": "ssh"}])"}}),
                ElementsAre("I_MPI_HYDRA_BOOTSTRAP_EXEC"));
    EXPECT_THAT(names({{env, R"([{"name": "I_MPI_HYDRA_BOOTSTRAP_EXEC", "value": "x"}])"}}),
                ElementsAre("I_MPI_HYDRA_BOOTSTRAP"));
    EXPECT_THAT(names({{env, R"([{"name": "I_MPI_HYDRA_BOOTSTRAP", "value": "ssh"},
                                {"name": "I_MPI_HYDRA_BOOTSTRAP_EXEC", "value": "x"}])"}}),
                IsEmpty());
}

// "predefined unowned ServiceAccount is used".
TEST(MpiJob, AnAccountOfTheUsersIsUsed) {
    const Job job = mpi_job(
        "v1", {{"spec/mpiReplicaSpecs/Launcher/template/spec/serviceAccountName", R"("mine")"}});
    EXPECT_EQ(build_pod(job, {"Launcher", 0})->spec.service_account_name, "mine");
    for (const OwnedObject& owned_object : mpi_owned_objects(job, {})) {
        EXPECT_NE(owned_object.type, kube::types::kServiceAccounts);
        if (owned_object.type.kind == "RoleBinding")
            EXPECT_EQ(owned_object.content.at("subjects").at(0).at("name"), "mine");
    }
}

TEST(MpiJob, TheKeyIsMadeWithItsSecret) {
    for (OwnedObject& owned_object : mpi_owned_objects(mpi_job("v2beta1"), {})) {
        if (!owned_object.make) continue;
        EXPECT_EQ(owned_object.name, "foo-ssh");
        ASSERT_TRUE(owned_object.make(owned_object.content).has_value());
        const json::value& data = owned_object.content.at("data");
        EXPECT_THAT(*kube::base64_decode(data.at("ssh-publickey").as_string()),
                    testing::StartsWith("ecdsa-sha2-nistp521 "));
        EXPECT_THAT(*kube::base64_decode(data.at("ssh-privatekey").as_string()),
                    HasSubstr("EC PRIVATE KEY"));
        return;
    }
    FAIL() << "there is no Secret";
}

TEST(MpiJob, AVersionLeavesItsMarkInTheSchema) {
    for (const auto& [version, mark] :
         {std::pair("v1", "v1"), std::pair("v1alpha2", "v1"), std::pair("v2beta1", "v2beta1")}) {
        const kube::Schema::Ptr object = object_schema(mpi_kind(version));
        EXPECT_EQ(object->property("spec")->property("dialect")->default_value, mark) << version;
    }
    const JobKind& stored = mpi_kind("v2beta1");
    EXPECT_EQ(&kind_as_written(stored, json::parse(R"({"spec":{"dialect":"v1"}})")),
              &mpi_kind("v1"));
    for (const char* object : {"{}", "[]", R"({"spec":{"dialect":"v9"}})"})
        EXPECT_EQ(&kind_as_written(stored, json::parse(object)), &stored) << object;
}

}  // namespace
}  // namespace muster::jobs::mpijob_test
