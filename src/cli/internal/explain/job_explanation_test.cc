#include "cli/internal/explain/job_explanation.h"

#include <gmock/gmock.h>

#include <boost/json/serialize.hpp>

#include "kube/objects/codec.h"
#include "manifest/check.h"

namespace muster::cli::job_explanation_test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Field;
using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kTemplate = R"(      template:
        spec:
          containers:
          - {name: NAME, image: x, env: [{name: MODE, value: fast}, {name: RANK, value: mine}]}
)";

/// A job of a kind with so many replicas of each type.
jobs::Job job_of(const std::string& api_version, const std::string& kind, const std::string& field,
                 const std::string& container,
                 const std::vector<std::pair<std::string, int>>& replicas) {
    std::string text = "apiVersion: " + api_version + "\nkind: " + kind +
                       "\nmetadata: {name: j, namespace: ns}\nspec:\n  " + field + ":\n";
    std::string pod(kTemplate);
    pod.replace(pod.find("NAME"), 4, container);
    for (const auto& [type, count] : replicas)
        text += "    " + type + ":\n      replicas: " + std::to_string(count) + "\n" + pod;
    manifest::Manifest manifest = manifest::read_manifest(text, "j.yaml");
    manifest::CheckResult checked = manifest::check_documents(std::move(manifest.documents), {});
    EXPECT_EQ(checked.objects.size(), 1u) << text;
    return *checked.objects.at(0).job;
}

jobs::Job pytorch(int workers) {
    return job_of("kubeflow.org/v1", "PyTorchJob", "pytorchReplicaSpecs", "pytorch",
                  {{"Master", 1}, {"Worker", workers}});
}

TEST(ExplainPod, HasTheVariablesOfThePodThatIsMade) {
    const jobs::Job job = pytorch(2);
    const ExplainedPod explained = explain_pod(job, {"Worker", 1}).value();
    const kube::Pod pod = jobs::build_pod(job, {"Worker", 1}).value();
    EXPECT_EQ(json::value(explained.pod), kube::encode(pod));
    const std::vector<kube::EnvVar>& env = pod.spec.containers[0].env;
    ASSERT_EQ(explained.variables.size(), env.size());
    for (std::size_t i = 0; i < env.size(); ++i) {
        EXPECT_EQ(explained.variables[i].name, env[i].name);
        EXPECT_EQ(explained.variables[i].value, env[i].value);
    }
}

TEST(ExplainJob, ShowsWhatPodsGetFromTheOperatorsImage) {
    jobs::Job job = job_of("kubeflow.org/v2beta1", "MPIJob", "mpiReplicaSpecs", "mpi",
                           {{"Launcher", 1}, {"Worker", 2}});
    EXPECT_THAT(explanation_text(job).value(), Not(HasSubstr("initContainers")));
    job.platform.program_image = "registry.example/muster:1";
    EXPECT_THAT(explanation_text(job).value(),
                AllOf(HasSubstr("initContainers"), HasSubstr("image: registry.example/muster:1"),
                      HasSubstr("- copy\n"), HasSubstr("mountPath: /opt/muster\n")));
}

TEST(ExplainPod, SaysWhichRuleSetAValue) {
    const ExplainedPod pod = explain_pod(pytorch(2), {"Worker", 1}).value();
    EXPECT_THAT(
        pod.variables,
        AllOf(Contains(ExplainedVariable{"pytorch", "MODE", "fast", "of the manifest"}),
              Contains(ExplainedVariable{"pytorch", "RANK", "mine", "of the manifest", true}),
              Contains(ExplainedVariable{"pytorch", "RANK", "2",
                                         "0 for the master, index + 1 for a worker"}),
              Contains(ExplainedVariable{"pytorch", "WORLD_SIZE", "3",
                                         "all pods, times nprocPerNode where that is a number"})));
    const jobs::Job paddle =
        job_of("kubeflow.org/v1", "PaddleJob", "paddleReplicaSpecs", "paddle", {{"Worker", 2}});
    EXPECT_THAT(explain_pod(paddle, {"Worker", 0})->variables,
                Contains(ExplainedVariable{"paddle", "POD_IP_DUMMY", "<status.podIP>",
                                           "the pod's own address"}));
}

TEST(ExplainPod, HasTheVariablesOfInitContainersToo) {
    jobs::Job job = pytorch(2);
    job.metadata.annotations["muster.dev/init-containers-env"] = "true";
    kube::Container& prepare =
        job.replicas.at("Worker").template_.spec.init_containers.emplace_back();
    prepare.name = "prepare";
    prepare.image = "x";
    const ExplainedPod explained = explain_pod(job, {"Worker", 1}).value();
    EXPECT_THAT(explained.variables, Contains(AllOf(Field(&ExplainedVariable::container, "prepare"),
                                                    Field(&ExplainedVariable::name, "RANK"),
                                                    Field(&ExplainedVariable::value, "2"))));
    EXPECT_THAT(explanation_text(job).value(), HasSubstr("environment of prepare, by rank:"));
}

TEST(Ranks, HaveTheNamesOfTheirPods) {
    const jobs::Job job = pytorch(2);
    EXPECT_EQ(find_rank(job, "worker-1"), (jobs::ReplicaId{"Worker", 1}));
    EXPECT_EQ(find_rank(job, "Master-0"), (jobs::ReplicaId{"Master", 0}));
    for (const char* none :
         {"worker-2", "worker", "worker-", "worker-x", "worker--1", "chief-0", ""})
        EXPECT_EQ(find_rank(job, none), std::nullopt) << none;
    const jobs::Job mpi = job_of("kubeflow.org/v2beta1", "MPIJob", "mpiReplicaSpecs", "m",
                                 {{"Launcher", 1}, {"Worker", 2}});
    EXPECT_EQ(find_rank(mpi, "launcher"), (jobs::ReplicaId{"Launcher", 0}));
    EXPECT_EQ(rank_name(*mpi.kind, {"Launcher", 0}), "launcher");
}

TEST(ExplanationText, ShowsOnceWhatAllShare) {
    const std::string text = explanation_text(pytorch(3)).value();
    EXPECT_THAT(text, HasSubstr("PyTorchJob ns/j (kubeflow.org/v1): 4 pods\n"));
    EXPECT_THAT(text, HasSubstr("\nWorker: 3 pods, j-worker-0 to j-worker-2\n"
                                "  services of the same name: headless, "));
    EXPECT_THAT(
        text,
        HasSubstr(
            "  environment of pytorch, the same in each:\n    MODE=fast  # of the manifest\n"));
    EXPECT_THAT(text, HasSubstr("    MASTER_ADDR=j-master-0  # the master's name\n"));
    EXPECT_THAT(text, HasSubstr("  environment of pytorch, by rank:\n"
                                "    RANK  # 0 for the master, index + 1 for a worker\n"
                                "      worker-0: 1\n      worker-1: 2\n      worker-2: 3\n"));
    EXPECT_THAT(text, HasSubstr("  the pod j-worker-0, without its environment:\n"));
    EXPECT_THAT(text, Not(HasSubstr("env:")));
}

TEST(ExplanationText, ShortensWhatCountsUpAndLongLists) {
    EXPECT_THAT(explanation_text(pytorch(1000)).value(),
                HasSubstr("    RANK=1 to 1000 in worker-0 to worker-999  # 0 for the master"));
    const jobs::Job tf =
        job_of("kubeflow.org/v1", "TFJob", "tfReplicaSpecs", "tensorflow", {{"Worker", 9}});
    const std::string text = explanation_text(tf).value();
    EXPECT_THAT(text, HasSubstr("      worker-0: {\"cluster\":"));
    EXPECT_THAT(text, HasSubstr("      worker-1: {\"cluster\":"));
    EXPECT_THAT(text, HasSubstr("      ... 6 more\n      worker-8: {\"cluster\":"));
    EXPECT_THAT(text, Not(HasSubstr("worker-5: ")));
}

TEST(ExplanationText, OfVariablesThatOnlySomeHave) {
    const jobs::Job paddle =
        job_of("kubeflow.org/v1", "PaddleJob", "paddleReplicaSpecs", "paddle", {{"Worker", 3}});
    const std::string text = explanation_text(paddle).value();
    EXPECT_THAT(
        text,
        HasSubstr("    POD_IP_DUMMY  # the pod's own address\n      worker-0: <status.podIP>\n"));
    EXPECT_THAT(
        text,
        HasSubstr("      worker-0: $(POD_IP_DUMMY):36543\n      worker-1: j-worker-0:36543\n"));
}

TEST(ExplanationText, ShowsWhatStandsBesideThePods) {
    const jobs::Job mpi = job_of("kubeflow.org/v2beta1", "MPIJob", "mpiReplicaSpecs", "m",
                                 {{"Launcher", 1}, {"Worker", 2}});
    const std::string text = explanation_text(mpi).value();
    EXPECT_THAT(text, HasSubstr("\nBeside the pods, before any of them:\n"));
    EXPECT_THAT(text, HasSubstr("  ConfigMap j-config\n"));
    EXPECT_THAT(text, HasSubstr("    hostfile:\n      j-worker-0.j.ns.svc slots=1\n"));
    EXPECT_THAT(text, HasSubstr("Launcher: 1 pod, j-launcher; made when every worker is Ready\n"));
    EXPECT_THAT(text, HasSubstr("made when it is created)"));
}

TEST(ExplanationJson, HasEveryRankInFull) {
    const json::value all = explanation_json(pytorch(2), std::nullopt).value();
    ASSERT_EQ(all.at("replicas").as_array().size(), 3u);
    const json::value& worker = all.at("replicas").at(2);
    EXPECT_EQ(worker.at("rank"), "worker-1");
    EXPECT_EQ(worker.at("pod").at("metadata").at("name"), "j-worker-1");
    EXPECT_EQ(worker.at("service").at("spec").at("clusterIP"), "None");
    EXPECT_THAT(
        json::serialize(worker.at("environment")),
        HasSubstr(R"({"container":"pytorch","name":"RANK","value":"2","rule":"0 for the master)"));
    const json::value one = explanation_json(pytorch(2), jobs::ReplicaId{"Worker", 0}).value();
    ASSERT_EQ(one.at("replicas").as_array().size(), 1u);
    EXPECT_EQ(one.at("replicas").at(0).at("rank"), "worker-0");
}

}  // namespace
}  // namespace muster::cli::job_explanation_test
