#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jobs/internal/test_manifest.h"

namespace muster::jobs::pytorchjob_defaults_test {
namespace {

using testing::ElementsAre;
using testing::Field;

const std::string kWorker = "spec/pytorchReplicaSpecs/Worker";
const std::string kContainer = kWorker + "/template/spec/containers/0";

/// The values of one variable of worker 0, in order.
std::vector<std::string> variable(const Job& job, std::string_view name) {
    std::vector<std::string> values;
    const kube::Pod pod = build_pod(job, {"Worker", 0}).value();
    for (const kube::EnvVar& entry : pod.spec.containers.front().env)
        if (entry.name == name) values.push_back(entry.value);
    return values;
}

struct ElasticCase {
    std::string upstream;
    std::string policy;
    std::string nnodes;
};

class ElasticDefaults : public testing::TestWithParam<ElasticCase> {};

TEST_P(ElasticDefaults, MinAndMaxComeFromEachOtherOrFromTheWorkers) {
    const Job job = pytorch_job({{"spec/elasticPolicy", GetParam().policy}});
    EXPECT_THAT(variable(job, "PET_NNODES"), ElementsAre(GetParam().nnodes));
}

INSTANTIATE_TEST_SUITE_P(
    Upstream, ElasticDefaults,
    // Differs: upstream has 2:2, and with it one of the master and the workers is left out.
    testing::Values(ElasticCase{"TestSetElasticPolicy: both nil", "{}", "3:3"},
                    ElasticCase{"TestSetElasticPolicy: both set",
                                R"({"minReplicas":1,"maxReplicas":3})", "1:3"},
                    ElasticCase{"TestSetElasticPolicy: min nil", R"({"maxReplicas":3})", "3:3"},
                    ElasticCase{"TestSetElasticPolicy: max nil", R"({"minReplicas":1})", "1:1"}));

struct NprocCase {
    std::string upstream;
    std::vector<Edit> edits;
    std::string nproc;
};

class NprocDefaults : public testing::TestWithParam<NprocCase> {};

TEST_P(NprocDefaults, AreAutoUnlessEitherFieldIsSet) {
    EXPECT_THAT(variable(pytorch_job(GetParam().edits), "PET_NPROC_PER_NODE"),
                ElementsAre(GetParam().nproc));
}

INSTANTIATE_TEST_SUITE_P(
    Upstream, NprocDefaults,
    testing::Values(NprocCase{"TestSetDefaultNprocPerNode: nil, empty elasticPolicy",
                              {{"spec/elasticPolicy", "{}"}},
                              "auto"},
                    NprocCase{"TestSetDefaultNprocPerNode: nil, no elasticPolicy", {}, "auto"},
                    NprocCase{"set", {{"spec/nprocPerNode", R"("2")"}}, "2"},
                    NprocCase{"only the deprecated one",
                              {{"spec/elasticPolicy", R"({"nProcPerNode":3})"}},
                              "3"}));

struct TypeNameCase {
    std::string upstream;
    std::string key;
};

class TypeNames : public testing::TestWithParam<TypeNameCase> {};

TEST_P(TypeNames, AreKnownInAnyCaseAndRenamed) {
    const json::value worker = pytorch_manifest().at("spec").at("pytorchReplicaSpecs").at("Worker");
    const json::value manifest = pytorch_manifest(
        {{kWorker, ""}, {"spec/pytorchReplicaSpecs/" + GetParam().key, json::serialize(worker)}});
    const Review seen = review(pytorch_kind(), manifest);
    EXPECT_TRUE(seen.problems.empty());
    ASSERT_NE(seen.job.replica("Worker"), nullptr);
    EXPECT_EQ(seen.job.replica("Worker")->replicas, 2);
    EXPECT_EQ(seen.job.replicas.size(), 2u);
    EXPECT_EQ(seen.job.replica_path("Worker"), "spec.pytorchReplicaSpecs." + GetParam().key);
    EXPECT_THAT(seen.warnings,
                ElementsAre(Field(&Cause::field, "spec.pytorchReplicaSpecs." + GetParam().key)));
}

INSTANTIATE_TEST_SUITE_P(Upstream, TypeNames,
                         testing::Values(TypeNameCase{"TestSetTypeNames", "WORKER"},
                                         TypeNameCase{"lower case", "worker"},
                                         TypeNameCase{"mixed", "woRker"}));

TEST(PyTorchDefaults, AMinimalJobIsFilledIn) {
    const Job job = pytorch_job(
        {{kWorker + "/replicas", ""}, {"spec/pytorchReplicaSpecs/Master/replicas", ""}});
    EXPECT_EQ(job.run_policy.clean_pod_policy, "None");
    for (const auto& [type, spec] : job.replicas) {
        EXPECT_EQ(spec.replicas, 1) << type;
        EXPECT_EQ(spec.restart_policy, "OnFailure") << type;
        const kube::Container& container = spec.template_.spec.containers.front();
        ASSERT_EQ(container.ports.size(), 1u) << type;
        EXPECT_EQ(container.ports[0].name, "pytorchjob-port");
        EXPECT_EQ(container.ports[0].container_port, 23456);
        EXPECT_EQ(container.ports[0].protocol, "");
    }
}

TEST(PyTorchDefaults, WhatIsWrittenStays) {
    const Job job = pytorch_job({{"spec/runPolicy/cleanPodPolicy", R"("All")"},
                                 {kWorker + "/restartPolicy", R"("ExitCode")"},
                                 {kWorker + "/replicas", "0"}});
    EXPECT_EQ(job.run_policy.clean_pod_policy, "All");
    EXPECT_EQ(job.replica("Worker")->restart_policy, "ExitCode");
    EXPECT_EQ(job.replica("Worker")->replicas, 0);
}

struct PortCase {
    std::string name;
    std::string ports;
    std::vector<std::pair<std::string, std::int32_t>> wanted;
};

class PortDefaults : public testing::TestWithParam<PortCase> {};

TEST_P(PortDefaults, TheDefaultPortIsAddedUnlessItsNameIsThere) {
    const Job job = pytorch_job({{kContainer + "/ports", GetParam().ports}});
    std::vector<std::pair<std::string, std::int32_t>> ports;
    for (const auto& port : job.replica("Worker")->template_.spec.containers[0].ports)
        ports.emplace_back(port.name, port.container_port);
    EXPECT_EQ(ports, GetParam().wanted);
}

INSTANTIATE_TEST_SUITE_P(
    Table, PortDefaults,
    testing::Values(PortCase{"the default port is untouched",
                             R"([{"name":"pytorchjob-port","containerPort":8080}])",
                             {{"pytorchjob-port", 8080}}},
                    PortCase{"it is appended beside a custom port",
                             R"([{"name":"metrics","containerPort":9}])",
                             {{"metrics", 9}, {"pytorchjob-port", 23456}}},
                    PortCase{"the name counts, not the number",
                             R"([{"containerPort":23456}])",
                             {{"", 23456}, {"pytorchjob-port", 23456}}}));

TEST(PyTorchDefaults, ThePortGoesToTheNamedContainer) {
    const Job job =
        pytorch_job({{kWorker + "/template/spec/containers",
                      R"([{"name":"log","image":"l"},{"name":"pytorch","image":"x"}])"}});
    const auto& containers = job.replica("Worker")->template_.spec.containers;
    EXPECT_TRUE(containers[0].ports.empty());
    EXPECT_EQ(containers[1].ports.size(), 1u);
}

TEST(PyTorchDefaults, AreIdempotent) {
    Job once = pytorch_job({{"spec/elasticPolicy", R"({"maxReplicas":3})"}});
    Job twice = once;
    apply_defaults(twice);
    EXPECT_EQ(build_pod(once, {"Worker", 1})->spec.containers[0].ports.size(),
              build_pod(twice, {"Worker", 1})->spec.containers[0].ports.size());
    EXPECT_EQ(variable(once, "PET_NNODES"), variable(twice, "PET_NNODES"));
}

}  // namespace
}  // namespace muster::jobs::pytorchjob_defaults_test
