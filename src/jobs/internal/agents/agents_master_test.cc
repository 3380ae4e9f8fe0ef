#include "jobs/internal/agents/agents_master.h"

#include <gmock/gmock.h>

#include <boost/json/serialize.hpp>

#include "jobs/gang.h"
#include "jobs/internal/test_kinds.h"

namespace muster::jobs::agents_master_test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const ReplicaId kMaster{std::string(kAgentsMaster), 0};
const Platform kCluster{.program_image = "muster:1", .cluster = true, .pods_reach_api = true};
const Platform kMachine{
    .node_program = "/bin/muster", .agent_tokens = true, .pods_reach_api = true};
const Edit kElasticEdit{"metadata/annotations", R"({"muster.dev/elastic": "true"})"};

const JobKind& pytorch() { return *find_kind("kubeflow.org/v1", "PyTorchJob"); }

Review review_of(std::vector<Edit> edits, const Platform& platform = kCluster) {
    edits.insert(edits.begin(), kElasticEdit);
    Review made = review(pytorch(),
                         manifest_of(pytorch(), {{{"Master", 1}, {"Worker", 2}}, std::move(edits)}),
                         platform);
    EXPECT_THAT(made.problems, IsEmpty());
    return made;
}
Job job_with(std::vector<Edit> edits, const Platform& platform = kCluster) {
    return review_of(std::move(edits), platform).job;
}

Edit command(const std::string& words) {
    return {"spec/pytorchReplicaSpecs/Worker/template/spec/containers/0/command", words};
}

kube::Pod master_of(const Job& job) { return build_pod(job, kMaster).value(); }

std::map<std::string, std::string> variables_of(const Job& job, const ReplicaId& replica) {
    std::map<std::string, std::string> found;
    const kube::Pod pod = build_pod(job, replica).value();
    for (const kube::EnvVar& one : pod.spec.containers.front().env) found[one.name] = one.value;
    return found;
}

TEST(AgentsMaster, IsThereWhereThePlatformRunsMasters) {
    Platform no_image = kCluster;
    no_image.program_image.clear();
    Platform no_access = kCluster;
    no_access.pods_reach_api = false;
    Platform run = kMachine;
    run.pods_reach_api = false;
    const struct {
        const char* name;
        const Platform& platform;
        bool there;
    } rows[] = {
        {"a cluster", kCluster, true},
        {"muster up", kMachine, true},
        {"muster run", run, false},
        {"an operator without an image", no_image, false},
        {"no access to the API", no_access, false},
    };
    for (const auto& row : rows) {
        SCOPED_TRACE(row.name);
        const Job job = job_with({command(R"(["torchrun", "x"])")}, row.platform);
        EXPECT_EQ(job.replica(kMaster.type) != nullptr, row.there);
        EXPECT_EQ(agents_master_objects(job).size(), row.there ? 4u : 0u);
        EXPECT_EQ(variables_of(job, {"Worker", 1}).contains("MUSTER_MASTER_ADDR"), row.there);
    }
}

TEST(AgentsMaster, OtherJobsHaveNone) {
    for (const char* annotations :
         {"{}", R"({"muster.dev/elastic": "false"})",
          R"({"muster.dev/elastic": "true", "muster.dev/agent": "image"})"}) {
        SCOPED_TRACE(annotations);
        const Job job = job_with({{"metadata/annotations", annotations}}, kMachine);
        EXPECT_EQ(job.replica(kMaster.type), nullptr);
        EXPECT_FALSE(variables_of(job, {"Worker", 0}).contains("MUSTER_MASTER_ADDR"));
        EXPECT_THAT(agents_master_objects(job), IsEmpty());
    }
}

TEST(AgentsMaster, RunsOurProgramAndAgentsAreToldWhere) {
    const Job job = job_with({});
    const kube::Pod pod = master_of(job);
    EXPECT_EQ(pod.metadata.name, "j-elasticmaster-0");
    EXPECT_THAT(
        pod.spec.containers.at(0).command,
        ElementsAre("/usr/local/bin/muster-in-pods", "master", "--job", "j", "--namespace", "ns",
                    "--record-object", "j-elasticmaster", "--port", "50001", "--begin-again"));
    EXPECT_EQ(pod.spec.containers.at(0).image, "muster:1");
    EXPECT_EQ(pod.spec.service_account_name, "j-elasticmaster");
    EXPECT_THAT(pod.spec.containers.at(0).env, IsEmpty());
    EXPECT_THAT(pod.spec.init_containers, IsEmpty()) << "it is no agent";
    EXPECT_EQ(pod.spec.containers.at(0).rest.at("securityContext").at("runAsNonRoot"), true);
    EXPECT_FALSE(pod.metadata.labels.contains("training.kubeflow.org/job-role"));
    const kube::Service service = build_service(job, kMaster).value();
    EXPECT_EQ(service.metadata.name, "j-elasticmaster-0");
    EXPECT_EQ(service.spec.ports.at(0).port, 50001);
    for (const ReplicaId& replica : {ReplicaId{"Master", 0}, ReplicaId{"Worker", 1}}) {
        auto variables = variables_of(job, replica);
        EXPECT_EQ(variables["MUSTER_MASTER_ADDR"], "j-elasticmaster-0.ns.svc:50001");
        EXPECT_EQ(variables["MUSTER_MASTER_JOB"], "j");
        EXPECT_EQ(variables["PET_NNODES"], "3") << "the pod of the master is no node";
        EXPECT_EQ(variables["WORLD_SIZE"], "3");
        EXPECT_EQ(variables["MASTER_ADDR"], "j-master-0") << "what programs may read";
    }
}

TEST(AgentsMaster, MayWriteItsRecordAndNothingElse) {
    std::vector<std::string> kinds;
    for (const OwnedObject& one : agents_master_objects(job_with({}))) {
        EXPECT_EQ(one.name, "j-elasticmaster");
        kinds.push_back(one.type.kind);
        if (one.type.kind == "Role")
            EXPECT_EQ(json::serialize(one.content.at("rules")),
                      R"([{"apiGroups":[""],"resources":["configmaps"],)"
                      R"("resourceNames":["j-elasticmaster"],"verbs":["get","update"]}])");
    }
    EXPECT_THAT(kinds, ElementsAre("ServiceAccount", "Role", "RoleBinding", "ConfigMap"));
}

TEST(AgentsMaster, TypesOfItsObjectsAreWatchedWhereItIs) {
    EXPECT_EQ(owned_types(pytorch(), kCluster).size(), 4u);
    EXPECT_EQ(owned_types(pytorch(), kMachine).size(), 5u) << "and the Secret of the token";
    EXPECT_THAT(owned_types(pytorch(), {.program_image = "muster:1"}), IsEmpty());
}

// A pod that has failed for good says so; where pods start again, so does the master.
TEST(AgentsMaster, StartsAgainWherePodsOfTheJobDo) {
    const struct {
        const char* master;
        const char* worker;
        bool again;
    } rows[] = {
        {"Never", "Never", false},    {"Never", "ExitCode", false}, {"ExitCode", "ExitCode", false},
        {"Never", "OnFailure", true}, {"Always", "Never", true},
    };
    for (const auto& row : rows) {
        SCOPED_TRACE(std::string(row.master) + " " + row.worker);
        const auto policy = [](const char* type, std::string word) {
            return Edit{std::string("spec/pytorchReplicaSpecs/") + type + "/restartPolicy",
                        '"' + std::move(word) + '"'};
        };
        const Job job = job_with({policy("Master", row.master), policy("Worker", row.worker)});
        const kube::Pod pod = master_of(job);
        EXPECT_EQ(pod.spec.restart_policy, row.again ? "OnFailure" : "Never");
        EXPECT_EQ(job.replica(kMaster.type)->restart_policy, row.again ? "OnFailure" : "ExitCode");
        EXPECT_EQ(testing::Value(pod.spec.containers.at(0).command, Contains("--begin-again")),
                  row.again);
    }
}

TEST(AgentsMaster, IsPlacedAsTheFirstReplicaIs) {
    const Job job = job_with({{"spec/pytorchReplicaSpecs/Master/template", R"({
        "metadata": {"annotations": {"sidecar.istio.io/inject": "false"}, "labels": {"app": "x"}},
        "spec": {"nodeSelector": {"pool": "a"}, "priorityClassName": "high", "hostNetwork": true,
                 "imagePullSecrets": [{"name": "s"}], "tolerations": [{"operator": "Exists"}],
                 "containers": [{"name": "pytorch", "image": "x"}]}})"}});
    const kube::Pod pod = master_of(job);
    EXPECT_EQ(pod.metadata.annotations.at("sidecar.istio.io/inject"), "false");
    EXPECT_FALSE(pod.metadata.labels.contains("app")) << "Services of the user select by labels";
    EXPECT_EQ(pod.spec.node_selector.at("pool"), "a");
    EXPECT_EQ(pod.spec.priority_class_name, "high");
    EXPECT_EQ(pod.spec.host_network, std::nullopt);
    EXPECT_EQ(json::serialize(pod.spec.rest.at("imagePullSecrets")), R"([{"name":"s"}])");
    EXPECT_EQ(json::serialize(pod.spec.rest.at("tolerations")), R"([{"operator":"Exists"}])");
}

TEST(AgentsMaster, HasTheTokenOfItsAgents) {
    const Edit words = command(R"(["torchrun", "x"])");
    const kube::Pod given = master_of(job_with({words}, kMachine));
    ASSERT_EQ(given.spec.containers.at(0).env.size(), 1u);
    EXPECT_EQ(given.spec.containers[0].env[0].value_from->secret_key_ref->name, "j-muster-token");
    const Edit own{"spec/pytorchReplicaSpecs/Worker/template/spec/containers/0/env",
                   R"([{"name": "MUSTER_TOKEN", "valueFrom": {"secretKeyRef":
                       {"name": "mine", "key": "token"}}}])"};
    for (const Platform& platform : {kMachine, kCluster}) {
        const kube::Pod pod = master_of(job_with({words, own}, platform));
        ASSERT_EQ(pod.spec.containers.at(0).env.size(), 1u);
        EXPECT_EQ(pod.spec.containers[0].env[0].value_from->secret_key_ref->name, "mine");
    }
}

TEST(AgentsMaster, WhereItCanNotBeTheMasterIsBesideAnAgentAndAWarningSaysSo) {
    const std::string longest(47, 'a');
    EXPECT_NE(job_with({{"metadata/name", '"' + longest + '"'}}).replica(kMaster.type), nullptr);
    const struct {
        Edit edit;
        const char* field;
        const char* says;
    } rows[] = {
        {{"metadata/name", '"' + longest + "a\""}, "metadata.name", "Shorten the name by 1"},
        {command(R"(["torchrun", "--token-file", "t", "x"])"),
         "spec.pytorchReplicaSpecs.Worker.template", "Give the token as MUSTER_TOKEN"},
        {{"spec/pytorchReplicaSpecs/Worker/template/spec/containers/0/env",
          R"([{"name": "MUSTER_TOKEN_FILE", "value": "t"}])"},
         "spec.pytorchReplicaSpecs.Worker.template",
         "Give the token as MUSTER_TOKEN"},
    };
    for (const auto& row : rows) {
        const Review made = review_of({row.edit});
        EXPECT_EQ(made.job.replica(kMaster.type), nullptr) << row.says;
        EXPECT_FALSE(variables_of(made.job, {"Worker", 0}).contains("MUSTER_MASTER_ADDR"));
        EXPECT_THAT(made.warnings, Contains(AllOf(Field(&Cause::field, row.field),
                                                  Field(&Cause::reason, "Doubtful"),
                                                  Field(&Cause::message, HasSubstr(row.says)))));
    }
}

TEST(AgentsMaster, NoManifestCanHaveOne) {
    for (const char* key : {"ElasticMaster", "elasticmaster"}) {
        const Review made =
            review(pytorch(), manifest_of(pytorch(), {{{"Worker", 2}, {key, 1}}, {kElasticEdit}}),
                   kCluster);
        ASSERT_THAT(made.problems, testing::SizeIs(1));
        EXPECT_EQ(made.problems[0].field, std::string("spec.pytorchReplicaSpecs.") + key);
        EXPECT_THAT(made.problems[0].message, HasSubstr("has no replica type"));
        EXPECT_THAT(made.problems[0].message, HasSubstr("write \"Master\" or \"Worker\""));
    }
    const JobKind* const kinds[] = {&pytorch()};
    for (const AdmissionRule& rule : admission_rules(kinds))
        EXPECT_THAT(rule.expression, Not(HasSubstr("elasticmaster")));
}

TEST(AgentsMaster, IsNoMemberOfTheGangAndNoReplicaOfTheJob) {
    const Job job = job_with({});
    EXPECT_EQ(job.total_replicas(), 3);
    EXPECT_EQ(gang_size(job), 3);
    EXPECT_FALSE(starts_at_first(job, kMaster.type));
    EXPECT_FALSE(restarts_all(*pytorch().replica_type(kMaster.type), annotations::kRestartGroup));
    const auto written = pytorch().written_types();
    ASSERT_EQ(written.size() + 1, pytorch().replica_types.size()) << "it comes last";
    EXPECT_EQ(written.back().name, "Worker");
}

}  // namespace
}  // namespace muster::jobs::agents_master_test
