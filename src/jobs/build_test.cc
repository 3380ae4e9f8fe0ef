#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jobs/internal/test_kinds.h"
#include "kube/objects/codec.h"

namespace muster::jobs::build_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Key;
using testing::Not;
using testing::Pair;

const std::string kWorker = "spec/pytorchReplicaSpecs/Worker";
const std::string kContainer = kWorker + "/template/spec/containers/0";

TEST(BuildPod, GivesTheWorkedExample) {
    const Job job = pytorch_job({{"spec/nprocPerNode", R"("4")"}});
    const json::value wanted = json::parse(R"({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "name": "demo-worker-1", "namespace": "ml",
            "labels": {
                "training.kubeflow.org/job-name": "demo",
                "training.kubeflow.org/operator-name": "pytorchjob-controller",
                "training.kubeflow.org/replica-index": "1",
                "training.kubeflow.org/replica-type": "worker"},
            "ownerReferences": [{
                "apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "name": "demo",
                "uid": "u-1", "controller": true, "blockOwnerDeletion": true}]},
        "spec": {
            "restartPolicy": "OnFailure",
            "containers": [{
                "name": "pytorch", "image": "X",
                "ports": [{"name": "pytorchjob-port", "containerPort": 23456}],
                "env": [
                    {"name": "PYTHONUNBUFFERED", "value": "1"},
                    {"name": "MASTER_PORT", "value": "23456"},
                    {"name": "PET_MASTER_PORT", "value": "23456"},
                    {"name": "MASTER_ADDR", "value": "demo-master-0"},
                    {"name": "PET_MASTER_ADDR", "value": "demo-master-0"},
                    {"name": "WORLD_SIZE", "value": "12"},
                    {"name": "RANK", "value": "2"},
                    {"name": "PET_NODE_RANK", "value": "2"},
                    {"name": "PET_NPROC_PER_NODE", "value": "4"},
                    {"name": "PET_NNODES", "value": "3"}]}]}})");
    EXPECT_EQ(kube::encode(build_pod(job, {"Worker", 1}).value()), wanted);
}

TEST(BuildService, GivesTheWorkedExample) {
    const json::value wanted = json::parse(R"({
        "apiVersion": "v1", "kind": "Service",
        "metadata": {
            "name": "demo-worker-1", "namespace": "ml",
            "labels": {
                "training.kubeflow.org/job-name": "demo",
                "training.kubeflow.org/operator-name": "pytorchjob-controller",
                "training.kubeflow.org/replica-index": "1",
                "training.kubeflow.org/replica-type": "worker"},
            "ownerReferences": [{
                "apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "name": "demo",
                "uid": "u-1", "controller": true, "blockOwnerDeletion": true}]},
        "spec": {
            "clusterIP": "None",
            "publishNotReadyAddresses": true,
            "selector": {
                "training.kubeflow.org/job-name": "demo",
                "training.kubeflow.org/operator-name": "pytorchjob-controller",
                "training.kubeflow.org/replica-index": "1",
                "training.kubeflow.org/replica-type": "worker"},
            "ports": [{"name": "pytorchjob-port", "port": 23456}]}})");
    EXPECT_EQ(kube::encode(build_service(pytorch_job(), {"Worker", 1}).value()), wanted);
}

TEST(BuildPod, KeepsWhatTheTemplateHasAndOverridesOurLabels) {
    const Job job = pytorch_job(
        {{"metadata/labels", R"({"of":"the job"})"},
         {"metadata/annotations", R"({"of":"the job"})"},
         {kWorker + "/template/metadata",
          R"({"name":"ignored","labels":{"app":"x","training.kubeflow.org/job-name":"fake"},
              "annotations":{"sidecar.istio.io/inject":"false"},"finalizers":["a.b/c"]})"},
         {kWorker + "/template/spec/tolerations", R"([{"operator":"Exists"}])"},
         {kContainer + "/securityContext", R"({"privileged":true})"}});
    const kube::Pod pod = build_pod(job, {"Worker", 0}).value();
    EXPECT_EQ(pod.metadata.name, "demo-worker-0");
    EXPECT_THAT(pod.metadata.labels, Contains(Pair("app", "x")));
    EXPECT_THAT(pod.metadata.labels, Contains(Pair("training.kubeflow.org/job-name", "demo")));
    EXPECT_THAT(pod.metadata.labels, Not(Contains(Key("of"))));
    EXPECT_THAT(pod.metadata.annotations, ElementsAre(Pair("sidecar.istio.io/inject", "false")));
    EXPECT_THAT(pod.metadata.finalizers, ElementsAre("a.b/c"));
    EXPECT_EQ(pod.spec.rest.at("tolerations"), json::parse(R"([{"operator":"Exists"}])"));
    EXPECT_EQ(pod.spec.containers[0].rest.at("securityContext"),
              json::parse(R"({"privileged":true})"));
}

/// TestSetRestartPolicy.
TEST(BuildPod, MapsTheRestartPolicy) {
    const std::vector<std::pair<std::string, std::string>> cases = {{"Always", "Always"},
                                                                    {"OnFailure", "OnFailure"},
                                                                    {"Never", "Never"},
                                                                    {"ExitCode", "Never"}};
    for (const auto& [written, wanted] : cases) {
        const Job job = pytorch_job({{kWorker + "/restartPolicy", '"' + written + '"'},
                                     {kWorker + "/template/spec/restartPolicy", R"("Always")"}});
        EXPECT_EQ(build_pod(job, {"Worker", 0})->spec.restart_policy, wanted) << written;
    }
}

/// TestInitContainer: upstream adds one to workers when there is a master; here the services make
/// it needless.
TEST(BuildPod, AddsNoInitContainer) {
    for (const ReplicaId& replica : {ReplicaId{"Master", 0}, ReplicaId{"Worker", 0}})
        EXPECT_TRUE(build_pod(pytorch_job(), replica)->spec.init_containers.empty());
    const Job job = pytorch_job(
        {{kWorker + "/template/spec/initContainers", R"([{"name":"mine","image":"x"}])"}});
    EXPECT_EQ(build_pod(job, {"Worker", 0})->spec.init_containers.size(), 1u);
}

TEST(BuildPod, GivesTheMasterRoleToOnePodOnly) {
    auto has_role = [](const Job& job, const ReplicaId& replica) {
        return build_pod(job, replica)->metadata.labels.contains("training.kubeflow.org/job-role");
    };
    const Job with_master = pytorch_job();
    EXPECT_TRUE(has_role(with_master, {"Master", 0}));
    EXPECT_FALSE(has_role(with_master, {"Worker", 0}));
    const Job workers = pytorch_job({{"spec/pytorchReplicaSpecs/Master", ""}});
    EXPECT_TRUE(has_role(workers, {"Worker", 0}));
    EXPECT_FALSE(has_role(workers, {"Worker", 1}));
    EXPECT_FALSE(build_service(with_master, {"Master", 0})
                     ->metadata.labels.contains("training.kubeflow.org/job-role"));
}

TEST(BuildPod, RefusesAReplicaTypeThatTheJobDoesNotHave) {
    const Job job = pytorch_job({{"spec/pytorchReplicaSpecs/Master", ""}});
    EXPECT_FALSE(build_pod(job, {"Master", 0}).has_value());
    EXPECT_FALSE(build_service(job, {"Master", 0}).has_value());
}

struct PortsCase {
    std::string name;
    std::string ports;
    std::string wanted;
};

TEST(BuildService, HasAllPortsOfTheDefaultContainerOnceAndNamed) {
    const std::vector<PortsCase> cases = {
        {"beside others", R"([{"name":"metrics","containerPort":9090}])",
         R"([{"name":"metrics","port":9090},{"name":"pytorchjob-port","port":23456}])"},
        {"unnamed ones do not collide", R"([{"containerPort":1},{"containerPort":2}])",
         R"([{"name":"port-1","port":1},{"name":"port-2","port":2},
             {"name":"pytorchjob-port","port":23456}])"},
        {"a name that is taken", R"([{"containerPort":1},{"name":"port-1","containerPort":2}])",
         R"([{"name":"port-1-x","port":1},{"name":"port-1","port":2},
             {"name":"pytorchjob-port","port":23456}])"},
        {"one number twice is one port, and the name is kept", R"([{"containerPort":23456}])",
         R"([{"name":"pytorchjob-port","port":23456}])"},
        {"the same number for two protocols is two ports",
         R"([{"containerPort":53,"protocol":"UDP"},{"containerPort":53,"protocol":"TCP"}])",
         R"([{"name":"port-53","port":53,"protocol":"UDP"},
             {"name":"port-53-x","port":53,"protocol":"TCP"},
             {"name":"pytorchjob-port","port":23456}])"},
    };
    for (const PortsCase& row : cases) {
        SCOPED_TRACE(row.name);
        const Job job = pytorch_job({{kContainer + "/ports", row.ports}});
        const json::value service = kube::encode(build_service(job, {"Worker", 0}).value());
        EXPECT_EQ(service.at("spec").at("ports"), json::parse(row.wanted));
    }
}

TEST(References, NameTheJob) {
    const Job job = pytorch_job();
    const kube::ObjectReference reference = object_reference(job);
    EXPECT_EQ(reference.kind, "PyTorchJob");
    EXPECT_EQ(reference.api_version, "kubeflow.org/v1");
    EXPECT_EQ(reference.name, "demo");
    EXPECT_EQ(reference.namespace_, "ml");
    EXPECT_EQ(reference.uid, "u-1");
    EXPECT_THAT(job_labels(*job.kind, job.metadata.name),
                ElementsAre(Pair("training.kubeflow.org/job-name", "demo"),
                            Pair("training.kubeflow.org/operator-name", "pytorchjob-controller")));
}

TEST(JobStatus, IsReadAndWrittenAsUpstreamHasIt) {
    const json::value status = json::parse(R"({
        "startTime": "2025-01-01T00:00:00Z",
        "conditions": [
            {"type": "Created", "status": "True", "reason": "PyTorchJobCreated",
             "message": "PyTorchJob demo is created."},
            {"type": "Running", "status": "False", "reason": "PyTorchJobRunning"}],
        "replicaStatuses": {"Master": {"active": 1}, "Worker": {}}})");
    const Job job = pytorch_job({{"status", json::serialize(status)}});
    EXPECT_TRUE(job.status.is("Created"));
    EXPECT_FALSE(job.status.is("Running"));
    EXPECT_FALSE(job.status.finished());
    EXPECT_EQ(kube::encode(job.status), status);
}

TEST(BuildPod, SaysWhatItInherits) {
    const Job job = pytorch_job({});
    const auto plain = build_pod(job, {"Worker", 0}).value();
    EXPECT_TRUE(plain.metadata.annotations.empty()) << "upstream's pods have none";
    const auto heir = build_pod(job, {"Worker", 0}, {.restarts = 2, .generation = 1}).value();
    EXPECT_EQ(heir.metadata.annotations.at("muster.dev/restarts"), "2");
    EXPECT_EQ(heir.metadata.annotations.at("muster.dev/generation"), "1");
}

// A container that the node restarts in place would leave its peers behind.
TEST(BuildPod, OfAGroupIsNeverRestartedInPlace) {
    Job job = pytorch_job({});
    job.metadata.annotations["muster.dev/restart"] = "group";
    EXPECT_EQ(build_pod(job, {"Worker", 0}).value().spec.restart_policy, "Never");
    job.metadata.annotations["muster.dev/restart"] = "each";
    EXPECT_EQ(build_pod(job, {"Worker", 0}).value().spec.restart_policy, "OnFailure");
}

/// The names of the variables of a replica's first init container.
std::vector<std::string> init_variables(const Job& job, const ReplicaId& replica = {"Worker", 0}) {
    std::vector<std::string> names;
    const kube::Pod pod = build_pod(job, replica).value();
    for (const kube::EnvVar& variable : pod.spec.init_containers.at(0).env)
        names.push_back(variable.name);
    return names;
}

TEST(BuildPod, GivesInitContainersTheVariablesIfAnAnnotationAsksForIt) {
    const std::string on_template = kWorker + "/template/metadata/annotations";
    const std::string yes = R"({"muster.dev/init-containers-env": "true"})";
    const std::string no = R"({"muster.dev/init-containers-env": "false"})";
    const std::string unknown = R"({"muster.dev/init-containers-env": "yes"})";
    struct Case {
        std::string name;
        std::vector<Edit> edits;
        bool gets = false;
    };
    const std::vector<Case> cases = {
        {"none", {}, false},
        {"of the job", {{"metadata/annotations", yes}}, true},
        {"of the template", {{on_template, yes}}, true},
        {"of another replica's template",
         {{"spec/pytorchReplicaSpecs/Master/template/metadata/annotations", yes}},
         false},
        {"false", {{"metadata/annotations", no}}, false},
        {"the template's counts before the job's",
         {{"metadata/annotations", yes}, {on_template, no}},
         false},
        {"a value that is not known", {{"metadata/annotations", unknown}}, false},
        {"one that is not known changes nothing",
         {{"metadata/annotations", yes}, {on_template, unknown}},
         true},
    };
    for (const Case& row : cases) {
        SCOPED_TRACE(row.name);
        std::vector<Edit> edits = row.edits;
        edits.push_back({kWorker + "/template/spec/initContainers",
                         R"([{"name":"i","image":"x","env":[{"name":"RANK","value":"mine"}]}])"});
        const Job job = pytorch_job(edits);
        const std::vector<std::string> names = init_variables(job);
        ASSERT_EQ(names.front(), "RANK") << "the user's own come first";
        EXPECT_EQ(names.size(), row.gets ? 11u : 1u);
        const kube::Pod pod = build_pod(job, {"Worker", 0}).value();
        const std::vector<kube::EnvVar>& ours = pod.spec.containers.front().env;
        for (std::size_t i = 1; i < names.size(); ++i) EXPECT_EQ(names[i], ours.at(i - 1).name);
    }
}

/// Of a kind whose variables go to one container only: all init containers prepare for that one.
TEST(BuildPod, GivesInitContainersOfATfJobTheVariables) {
    const JobKind& tensorflow = *find_kind("kubeflow.org/v1", "TFJob");
    const Job job = job_of(
        tensorflow, {{{"Worker", 2}},
                     {{"metadata/annotations", R"({"muster.dev/init-containers-env": "true"})"},
                      {"spec/tfReplicaSpecs/Worker/template/spec/initContainers",
                       R"([{"name":"i","image":"x"}])"}}});
    EXPECT_THAT(init_variables(job), ElementsAre("TF_CONFIG"));
}

/// A program that the platform brings into the pod has nothing to do with ranks.
TEST(BuildPod, GivesNoVariablesToInitContainersOfItsOwn) {
    const JobKind& mpi = *find_kind("kubeflow.org/v2beta1", "MPIJob");
    const json::value manifest = manifest_of(
        mpi, {{{"Launcher", 1}, {"Worker", 1}},
              {{"metadata/annotations", R"({"muster.dev/init-containers-env": "true"})"},
               {"spec/mpiReplicaSpecs/Launcher/template/spec/containers/0/name", R"("l")"},
               {"spec/mpiReplicaSpecs/Worker/template/spec/containers/0/name", R"("w")"}}});
    const Job job = load(mpi, manifest, {.program_image = "x"}).value();
    const ReplicaId launcher{"Launcher", 0};
    EXPECT_FALSE(build_pod(job, launcher)->spec.containers.front().env.empty());
    EXPECT_THAT(init_variables(job, launcher), IsEmpty());
}

TEST(VariableOrigins, OfInitContainersComeAfterThoseOfContainers) {
    const Job job =
        pytorch_job({{"metadata/annotations", R"({"muster.dev/init-containers-env": "true"})"},
                     {kWorker + "/template/spec/initContainers",
                      R"([{"name":"i","image":"x","env":[{"name":"A"}]}])"}});
    const ReplicaId replica{"Worker", 0};
    const auto origins = variable_origins(job, replica, build_pod(job, replica).value()).value();
    ASSERT_EQ(origins.size(), 2u);
    ASSERT_EQ(origins[1].size(), origins[0].size() + 1);
    EXPECT_EQ(origins[1][0].source, VariableOrigin::Source::kTemplate);
    EXPECT_EQ(origins[1][1].source, VariableOrigin::Source::kRule);
    EXPECT_EQ(origins[1].back().rule, origins[0].back().rule);
}

}  // namespace
}  // namespace muster::jobs::build_test
