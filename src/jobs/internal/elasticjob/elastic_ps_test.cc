#include <fmt/format.h>

#include "jobs/internal/elasticjob/elasticjob.h"
#include "jobs/internal/test_kinds.h"

namespace muster::jobs::elastic_ps_test {
namespace {

using testing::ElementsAre;

const JobKind& kind() { return *find_kind("elastic.iml.github.io/v1alpha1", "ElasticJob"); }

const Shape kServers{
    {{"ps", 2}, {"worker", 2}},
    {{"spec/distributionStrategy", R"("ParameterServerStrategy")"},
     {"spec/replicaSpecs/ps/template/spec/containers/0/command", R"(["python", "serve.py"])"},
     {"spec/replicaSpecs/worker/template/spec/containers/0/command", R"(["python", "train.py"])"}}};

Platform on_cluster() {
    Platform platform;
    platform.cluster = true;
    platform.program_image = "muster:1";
    return platform;
}
Platform on_machine() {
    Platform platform;
    platform.node_program = "/usr/bin/muster";
    return platform;
}
Job job_on(const Platform& platform, const Shape& shape = kServers) {
    return load(kind(), manifest_of(kind(), shape), platform).value();
}

kube::Container main_of(const Job& job, const ReplicaId& replica) {
    return build_pod(job, replica).value().spec.containers.at(0);
}
std::string ask_master_of(const kube::Container& container) {
    const auto found = std::ranges::find(container.env, "MUSTER_ASK_MASTER", &kube::EnvVar::name);
    return found == container.env.end() ? "none" : found->value;
}

TEST(ElasticPs, AServersPodAttendsFromItsStart) {
    const kube::Container in_image = main_of(job_on(on_cluster()), {"ps", 0});
    EXPECT_THAT(in_image.command,
                ElementsAre("/opt/muster/muster", "ask-master", "--for",
                            "/opt/muster/bin/muster-start", "python", "serve.py"));
    EXPECT_EQ(ask_master_of(in_image), "/opt/muster/muster");

    const Job job = job_on(on_machine());
    const kube::Pod pod = build_pod(job, {"ps", 0}).value();
    EXPECT_THAT(pod.spec.containers.at(0).command,
                ElementsAre("/opt/muster/muster", "ask-master", "--for", "python", "serve.py"));
    EXPECT_EQ(pod.spec.volumes.size(), 1u);
}

TEST(ElasticPs, AWorkersProgramsAskWhenTheyWant) {
    const kube::Container in_image = main_of(job_on(on_cluster()), {"worker", 0});
    EXPECT_THAT(in_image.command,
                ElementsAre("/opt/muster/bin/muster-start", "python", "train.py"));
    EXPECT_EQ(ask_master_of(in_image), "/opt/muster/muster");
    const kube::Container here = main_of(job_on(on_machine()), {"chief", 0});
    EXPECT_THAT(here.command, ElementsAre("python", "train.py"));
    EXPECT_EQ(ask_master_of(here), "/opt/muster/muster");
    EXPECT_EQ(here.volume_mounts.size(), 1u);
}

TEST(ElasticPs, AContainerWithoutACommandHasTheProgramAllTheSame) {
    Shape shape = kServers;
    shape.edits.erase(shape.edits.begin() + 1, shape.edits.end());
    const kube::Container container = main_of(job_on(on_cluster(), shape), {"ps", 0});
    EXPECT_TRUE(container.command.empty());
    EXPECT_EQ(ask_master_of(container), "/opt/muster/muster");
    EXPECT_EQ(container.volume_mounts.size(), 1u);
}

TEST(ElasticPs, WithoutOurMasterOrOurProgramNothingIsAdded) {
    const auto with = [](std::string annotation) {
        Shape shape = kServers;
        shape.edits.push_back({"metadata/annotations", std::move(annotation)});
        shape.edits.push_back({"spec/replicaSpecs/dlrover-master/template/spec/containers",
                               R"([{"name": "main", "image": "m", "command": ["serve"]}])"});
        return main_of(job_on(on_cluster(), shape), {"ps", 0});
    };
    EXPECT_EQ(ask_master_of(with(R"({"muster.dev/master": "image"})")), "none");
    EXPECT_THAT(with(R"({"muster.dev/agent": "image"})").command,
                ElementsAre("python", "serve.py"));
    EXPECT_EQ(ask_master_of(main_of(job_on({}), {"ps", 0})), "none");
    Shape meets = kServers;
    meets.edits.front().value = R"("AllreduceStrategy")";
    EXPECT_EQ(ask_master_of(main_of(job_on(on_cluster(), meets), {"worker", 0})), "none");
}

std::vector<OwnedObject> services_of(const Job& job, const std::vector<SeenPod>& seen,
                                     std::string_view type = "ps") {
    auto all = kind().owned_objects(job, seen);
    std::erase_if(all, [&](const OwnedObject& one) {
        return one.type != kube::types::kServices ||
               !one.name.starts_with(fmt::format("j-edljob-{}-", type));
    });
    return all;
}
json::value selector_of(const OwnedObject& service) {
    return service.content.at("spec").at("selector");
}

// TF_CONFIG has the addresses that pods were told at their start, so a replacement answers there.
TEST(ElasticPs, AServersNameIsThatOfItsRank) {
    const Job job = job_on(on_cluster());
    EXPECT_FALSE(kind().has_services("ps"));
    const auto services = services_of(job, {});
    ASSERT_EQ(services.size(), 2u);
    EXPECT_EQ(services[1].name, "j-edljob-ps-1");
    const json::value selector = selector_of(services[1]);
    EXPECT_EQ(selector.at("elasticjob.dlrover/rank-index"), "1");
    EXPECT_FALSE(selector.get_object().contains("training.kubeflow.org/replica-index"));
    EXPECT_EQ(services[1].content.at("spec").at("ports").at(0).at("port"), 2222);
    const kube::Pod replacement =
        build_pod(job, {.type = "ps", .index = 5, .kept_rank = 1}).value();
    for (const auto& [key, value] : selector.get_object())
        EXPECT_EQ(replacement.metadata.labels.at(std::string(key)), value.get_string()) << key;

    // A replacement that runs changes nothing.
    EXPECT_EQ(selector_of(services_of(job, {{{"ps", 5, 1}, "10.0.0.1"}})[1]), selector);
}

// A coordinator of TensorFlow 2 connects to its workers, too.
TEST(ElasticPs, TheOthersNamesAreThoseOfTheirRanksToo) {
    const Job job = job_on(on_cluster());
    for (const auto& [type, number] : std::vector<std::pair<std::string, std::size_t>>{
             {"chief", 1}, {"worker", 1}, {"dlrover-master", 0}, {"evaluator", 0}}) {
        EXPECT_EQ(services_of(job, {}, type).size(), number) << type;
        EXPECT_FALSE(has_services(job, type)) << type;
    }
    const OwnedObject worker = services_of(job, {}, "worker").front();
    EXPECT_EQ(worker.content.at("spec").at("ports").at(0).at("port"), 3333);
    const kube::Pod replacement =
        build_pod(job, {.type = "worker", .index = 4, .kept_rank = 0}).value();
    for (const auto& [key, value] : selector_of(worker).get_object())
        EXPECT_EQ(replacement.metadata.labels.at(std::string(key)), value.get_string()) << key;
}

TEST(ElasticPs, OfOtherJobsEachWorkerHasAService) {
    Shape meets = kServers;
    meets.edits.front().value = R"("CustomStrategy")";
    const Job job = job_on(on_cluster(), meets);
    EXPECT_TRUE(has_services(job, "worker"));
    EXPECT_FALSE(has_services(job, "ps"));
    EXPECT_EQ(services_of(job, {}, "ps").size(), 2u);
    EXPECT_EQ(services_of(job, {}, "worker").size(), 0u);
}

TEST(ElasticPs, TheOldServerOfAMigrationHasTheNameUntilItIsGone) {
    const Job job = job_on(on_cluster());
    const auto services = services_of(
        job, {{{"ps", 0}, "10.0.0.1"}, {{"ps", 1}, "10.0.0.2"}, {{"ps", 2, 1}, "10.0.0.3"}});
    EXPECT_EQ(selector_of(services[1]).at("training.kubeflow.org/replica-index"), "1");
    EXPECT_FALSE(
        selector_of(services[0]).get_object().contains("training.kubeflow.org/replica-index"));
}

}  // namespace
}  // namespace muster::jobs::elastic_ps_test
