#include "jobs/internal/elasticjob/elastic_master.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <stdexcept>

#include "jobs/internal/elasticjob/elasticjob.h"
#include "jobs/internal/test_kinds.h"

namespace muster::jobs::elastic_master_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Not;

constexpr const char* kName = "elasticjob-j-dlrover-master";
const ReplicaId kMaster{std::string(kElasticMaster), 0};

Job job_with(std::vector<Edit> edits, bool reach_api = true) {
    const JobKind& kind = *find_kind("elastic.iml.github.io/v1alpha1", "ElasticJob");
    return load(kind, manifest_of(kind, {{{"worker", 2}}, std::move(edits)}),
                {.program_image = "muster:1", .pods_reach_api = reach_api})
        .value();
}

/// The template of a master with such a spec.
Edit master_with(const std::string& spec) {
    return {"spec/replicaSpecs/dlrover-master",
            R"({"template": {"spec": {"containers": [{"name": "main"}], )" + spec + "}}}"};
}

std::vector<OwnedObject> objects_of(const Job& job) {
    return master_objects(job, elastic_master(job));
}

std::vector<std::string> kinds_of(const std::vector<OwnedObject>& objects) {
    std::vector<std::string> kinds;
    for (const OwnedObject& one : objects) {
        EXPECT_EQ(one.name, kName);
        kinds.push_back(one.type.kind);
    }
    return kinds;
}

OwnedObject of_kind(const Job& job, std::string_view kind) {
    for (const OwnedObject& one : objects_of(job))
        if (one.type.kind == kind) return one;
    throw std::logic_error("there is no such object");
}

TEST(ElasticMaster, HasFourObjectsOfOneName) {
    const std::vector<std::string> kinds = kinds_of(objects_of(job_with({})));
    EXPECT_THAT(kinds, ElementsAre("ServiceAccount", "Role", "RoleBinding", "ConfigMap"));
    std::vector<std::string> types;
    for (const kube::ResourceType& type : master_object_types()) types.push_back(type.kind);
    EXPECT_EQ(types, kinds);
}

TEST(ElasticMaster, MayWriteItsRecordAndItsPlanAndFollowItsJobAndNothingElse) {
    const OwnedObject role = of_kind(job_with({}), "Role");
    EXPECT_EQ(json::serialize(role.content.at("rules")),
              R"([{"apiGroups":[""],"resources":["configmaps"],)"
              R"("resourceNames":["elasticjob-j-dlrover-master"],)"
              R"("verbs":["get","update"]},)"
              R"({"apiGroups":["elastic.iml.github.io"],"resources":["elasticjobs"],)"
              R"("resourceNames":["j"],"verbs":["list","watch"]},)"
              R"({"apiGroups":["elastic.iml.github.io"],"resources":["scaleplans"],)"
              R"("resourceNames":["j-plan"],"verbs":["get","update"]}])");
    EXPECT_THAT(role.kept, ElementsAre("rules")) << "who widens it finds it as it was";
    const OwnedObject binding = of_kind(job_with({}), "RoleBinding");
    EXPECT_EQ(json::serialize(binding.content),
              R"({"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role",)"
              R"("name":"elasticjob-j-dlrover-master"},"subjects":[{"kind":"ServiceAccount",)"
              R"("name":"elasticjob-j-dlrover-master","namespace":"ns"}]})");
    EXPECT_THAT(binding.kept, ElementsAre("subjects"));
}

TEST(ElasticMaster, ItsRecordIsMadeEmptyAndLeftAlone) {
    const OwnedObject record = of_kind(job_with({}), "ConfigMap");
    EXPECT_TRUE(record.content.empty());
    EXPECT_TRUE(record.kept.empty());
    EXPECT_TRUE(record.made_once.empty());
    EXPECT_FALSE(record.before_pods_only) << "one that was deleted comes back";
}

TEST(ElasticMaster, OnlyItsPodHasATokenOfItsAccount) {
    const Job job = job_with({master_with(R"("automountServiceAccountToken": false)")});
    EXPECT_EQ(of_kind(job, "ServiceAccount").content.at("automountServiceAccountToken"), false);
    const kube::Pod pod = build_pod(job, kMaster).value();
    EXPECT_EQ(pod.spec.service_account_name, kName);
    EXPECT_EQ(pod.spec.rest.at("automountServiceAccountToken"), true)
        << "without a token it could not write";
    EXPECT_THAT(pod.spec.volumes, IsEmpty()) << "no record of its own";
    EXPECT_EQ(build_pod(job, {"worker", 0})->spec.service_account_name, "");
}

TEST(ElasticMaster, AnAccountOfTheTemplateGetsTheRole) {
    const Job job = job_with({master_with(R"("serviceAccountName": "mine")")});
    EXPECT_THAT(kinds_of(objects_of(job)), ElementsAre("Role", "RoleBinding", "ConfigMap"));
    EXPECT_EQ(of_kind(job, "RoleBinding").content.at("subjects").at(0).at("name"), "mine");
    EXPECT_EQ(build_pod(job, kMaster)->spec.service_account_name, "mine");
}

TEST(ElasticMaster, KeepsItsRecordInAFileWherePodsReachNoApi) {
    const Job job = job_with({}, false);
    EXPECT_THAT(objects_of(job), IsEmpty());
    const kube::Pod pod = build_pod(job, kMaster).value();
    EXPECT_EQ(pod.spec.service_account_name, "");
    EXPECT_FALSE(pod.spec.rest.contains("automountServiceAccountToken"));
    EXPECT_THAT(pod.spec.containers.at(0).command,
                IsSupersetOf({"--records", "/var/lib/muster/record"}));
    ASSERT_EQ(pod.spec.volumes.size(), 1u);
    EXPECT_TRUE(pod.spec.volumes[0].empty_dir.has_value());
}

TEST(ElasticMaster, WritesAPlanWhereItHasARecord) {
    const JobKind& kind = *find_kind("elastic.iml.github.io/v1alpha1", "ElasticJob");
    for (const bool reach_api : {true, false}) {
        const Job job = job_with({}, reach_api);
        EXPECT_EQ(kind.has_own_plan(job), reach_api);
        const std::vector<std::string> command =
            build_pod(job, kMaster)->spec.containers.at(0).command;
        const auto flag = std::ranges::find(command, "--plan-object");
        ASSERT_EQ(flag != command.end(), reach_api);
        if (reach_api) {
            EXPECT_EQ(*(flag + 1), "j-plan");
        }
        const kube::Pod worker = build_pod(job, {"worker", 0}).value();
        const std::vector<kube::EnvVar>& variables = worker.spec.containers.at(0).env;
        const auto node = std::ranges::find(variables, "MUSTER_NODE_NAME", &kube::EnvVar::name);
        ASSERT_EQ(node != variables.end(), reach_api) << "which node a wish is about";
        if (reach_api) {
            EXPECT_EQ(node->value_from->field_ref->field_path, "spec.nodeName");
        }
    }
}

// The record of the first may have gone with its pod, or someone may have deleted the object.
TEST(ElasticMaster, AReplacementKnowsThatThereWasAnother) {
    for (const bool reach_api : {true, false}) {
        const Job job = job_with({}, reach_api);
        const auto command = [&](std::int32_t restarts) {
            const auto pod = build_pod(job, kMaster, {.restarts = restarts, .in_a_row = restarts});
            return pod->spec.containers.at(0).command;
        };
        EXPECT_THAT(command(0), Not(Contains("--successor")));
        EXPECT_THAT(command(1), Contains("--successor"));
    }
}

// A failure that a job's master has recorded is the end of the job, or of one attempt at it: which of
// the two must not depend on whose end the operator sees first.
TEST(ElasticMaster, BeginsAgainWhereAllPodsRestartTogether) {
    const JobKind& kind = *find_kind("elastic.iml.github.io/v1alpha1", "ElasticJob");
    const struct {
        const char* annotation;
        const char* worker;  ///< restartPolicy
        bool again;
    } rows[] = {
        {"", "Never", false},         {"replica", "OnFailure", false},
        {"group", "Never", true},  // as upstream has it, this says nothing
        {"group", "OnFailure", true}, {"group", "ExitCode", false},
    };
    for (const auto& row : rows) {
        SCOPED_TRACE(std::string(row.annotation) + " " + row.worker);
        const Job job = job_with(
            {{"metadata/annotations",
              std::string(R"({"muster.dev/restart": ")") + row.annotation + R"("})"},
             {"spec/replicaSpecs/worker/restartPolicy", '"' + std::string(row.worker) + '"'},
             {"spec/replicaSpecs/worker/restartCount", "5"},
             {"spec/replicaSpecs/dlrover-master",
              R"({"restartPolicy": "Always", "template": {"spec": {"containers": [
                           {"name": "main"}]}}})"}});
        EXPECT_EQ(testing::Value(build_pod(job, kMaster)->spec.containers.at(0).command,
                                 Contains("--begin-again")),
                  row.again);
        EXPECT_EQ(job.replica(kMaster.type)->restart_policy, row.again ? "OnFailure" : "ExitCode")
            << "whatever the manifest has";
        EXPECT_EQ(kind.restart_limit(job, kMaster.type),
                  row.again ? std::optional(5) : std::nullopt);
    }
}

TEST(ElasticMaster, JobsWithoutOneOfOursHaveNoRecord) {
    EXPECT_THAT(objects_of(job_with({{"spec/distributionStrategy", R"("Local")"},
                                     {"spec/replicaSpecs/worker/replicas", "1"}})),
                IsEmpty());
    const Job theirs =
        job_with({{"metadata/annotations", R"({"muster.dev/master": "image"})"},
                  {"spec/replicaSpecs/dlrover-master", R"({"template": {"spec": {"containers": [
             {"name": "main", "image": "x", "command": ["x"]}]}}})"}});
    EXPECT_THAT(objects_of(theirs), IsEmpty());
    EXPECT_EQ(build_pod(theirs, kMaster)->spec.service_account_name, "");
}

}  // namespace
}  // namespace muster::jobs::elastic_master_test
