#include "jobs/internal/test_kinds.h"

// The tables of upstream's webhooks and defaults, row by row under the names that they have there
// (training-operator v1.9: pkg/webhooks, pkg/apis/kubeflow.org/v1; v1.8 for MXJob). Where we differ
// on purpose the row says so, and docs/compatibility.md says why.

namespace muster::jobs::upstream_rules_test {
namespace {

using ::testing::ElementsAre;

const JobKind& kind_of(const char* name) { return *find_kind("kubeflow.org/v1", name); }

/// What every kind is refused for in the same way; `type` is a replica type that it needs. The last
/// argument gives the names that the kind's own table has for the four rows.
struct Names {
    std::string name, containers, image, container;
};

std::vector<ProblemCase> common(const JobKind& kind, const Shape& good, const std::string& type,
                                const Names& names) {
    const std::string replica = "spec." + std::string(kind.replicas_field) + "." + type;
    const std::string template_spec =
        "spec/" + std::string(kind.replicas_field) + "/" + type + "/template/spec/";
    const auto with = [&](const std::string& path, const std::string& value) {
        Shape shape = good;
        shape.edits.push_back({path, value});
        return shape;
    };
    return {
        {names.name, with("metadata/name", R"("0-job")"), "Invalid", "metadata.name", "letter"},
        // Two problems for one field upstream.
        {names.containers, with(template_spec + "containers", "[]"), "Required",
         replica + ".template.spec.containers", ""},
        {names.image, with(template_spec + "containers/0/image", R"("")"), "Required",
         replica + ".template.spec.containers[0].image", ""},
        {names.container, with(template_spec + "containers/0/name", R"("other")"), "Required",
         replica + ".template.spec.containers", std::string(kind.container_name)},
    };
}

const std::string kManagedByName =
    "attempt to set unsupported managedBy controller name gets rejected";
const Edit kManagedByOther{"spec/runPolicy/managedBy", R"("other-job-controller")"};

ProblemCase managed_by(const Shape& good) {
    Shape shape = good;
    shape.edits.push_back(kManagedByOther);
    return {kManagedByName, shape, "NotSupported", "spec.runPolicy.managedBy", ""};
}

TEST(UpstreamWebhooks, TestValidateV1PyTorchJob) {
    const JobKind& kind = kind_of("PyTorchJob");
    const Shape good{{{"Master", 1}, {"Worker", 2}}};
    expect_problems(
        kind, common(kind, good, "Worker",
                     {"pytorchJob name does not meet DNS1035", "no containers", "image is empty",
                      "pytorchJob default container name doesn't present"}));
    const Edit both{"spec/nprocPerNode", R"("1")"};
    const Edit elastic{"spec/elasticPolicy/nProcPerNode", "1"};
    expect_problems(
        kind, {{"valid PyTorchJob", good},
               {"the number of replicas in masterReplica is other than 1",
                {{{"Master", 2}, {"Worker", 2}}},
                "Forbidden",
                "spec.pytorchReplicaSpecs.Master.replicas",
                "must be 1"},
               {"Spec.ElasticPolicy.NProcPerNode are set", {good.replicas, {elastic}}},
               {"Spec.NprocPerNode and Spec.ElasticPolicy.NProcPerNode are set",
                {good.replicas, {both, elastic}},
                "Forbidden",
                "spec.elasticPolicy.nProcPerNode",
                ""},
               managed_by(good),
               {"attempt to configure elasticPolicy when no worker is configured",
                {{{"Master", 1}}, {{"spec/elasticPolicy", "{}"}}},
                "Required",
                "spec.pytorchReplicaSpecs.Worker",
                ""},
               // Differs: no workers, and a job that can be scaled.
               {"attempt to configure worker with 0 replicas", {{{"Master", 1}, {"Worker", 0}}}}});

    SCOPED_TRACE("attempt to update the managedBy field gets rejected");
    const auto managed = [&](const std::string& value) {
        return job_of(kind, {good.replicas, {{"spec/runPolicy/managedBy", '"' + value + '"'}}});
    };
    EXPECT_THAT(validate_update(managed("kubeflow.org/training-operator"),
                                managed("kueue.x-k8s.io/multikueue")),
                ElementsAre(testing::AllOf(
                    testing::Field("reason", &Cause::reason, "FieldValueInvalid"),
                    testing::Field("field", &Cause::field, "spec.runPolicy.managedBy"))));
}

TEST(UpstreamWebhooks, TestValidateTFJob) {
    const JobKind& kind = kind_of("TFJob");
    const Shape good{{{"Worker", 2}}};
    expect_problems(kind, common(kind, good, "Worker",
                                 {"TFJob name does not meet DNS1035", "no containers",
                                  "empty image", "tfJob default container name doesn't present"}));
    expect_problems(kind, {{"valid tfJob", good},
                           {"there are more than 2 masterReplica's or ChiefReplica's",
                            {{{"Chief", 1}, {"Master", 1}}},
                            "Forbidden",
                            "spec.tfReplicaSpecs",
                            ""},
                           managed_by(good)});
}

TEST(UpstreamWebhooks, TestValidateXGBoostJob) {
    const JobKind& kind = kind_of("XGBoostJob");
    const Shape good{{{"Master", 1}, {"Worker", 2}}};
    expect_problems(
        kind, common(kind, good, "Worker",
                     {"XGBoostJob name does not meet DNS1035", "empty containers", "image is empty",
                      "xgboostJob default container name doesn't present"}));
    expect_problems(kind, {{"valid XGBoostJob", good},
                           {"the number of replicas in masterReplica is other than 1",
                            {{{"Master", 2}, {"Worker", 2}}},
                            "Forbidden",
                            "spec.xgbReplicaSpecs.Master.replicas",
                            "must be 1"},
                           {"masterReplica does not exist",
                            {{{"Worker", 2}}},
                            "Required",
                            "spec.xgbReplicaSpecs.Master",
                            ""},
                           managed_by(good)});
}

TEST(UpstreamWebhooks, TestValidateV1PaddleJob) {
    const JobKind& kind = kind_of("PaddleJob");
    const Shape good{{{"Worker", 2}}};
    expect_problems(kind, common(kind, good, "Worker",
                                 {"paddleJob name does not meet DNS1035", "no containers",
                                  "image is empty", "paddle default container name doesn't find"}));
    expect_problems(kind, {{"valid paddleJob", good},
                           {"replicaSpec is nil",
                            {{{"Worker", 2}}, {{"spec/paddleReplicaSpecs", ""}}},
                            "Required",
                            "spec.paddleReplicaSpecs",
                            ""},
                           managed_by(good)});
}

TEST(UpstreamWebhooks, TestValidateV1JAXJob) {
    const JobKind& kind = kind_of("JAXJob");
    const Shape good{{{"Worker", 2}}};
    expect_problems(kind,
                    common(kind, good, "Worker",
                           {"jaxJob name does not meet DNS1035", "no containers", "image is empty",
                            "jaxJob default container name doesn't present"}));
    expect_problems(kind, {{"valid JAXJob", good},
                           {"replicaSpec is nil",
                            {{{"Worker", 2}}, {{"spec/jaxReplicaSpecs", ""}}},
                            "Required",
                            "spec.jaxReplicaSpecs",
                            ""}});
}

TEST(UpstreamWebhooks, TestValidateV1MXJob) {
    const JobKind& kind = kind_of("MXJob");
    const Edit trains{"spec/jobMode", R"("MXTrain")"};  // the definition requires it
    const Shape good{{{"Scheduler", 1}, {"Server", 1}, {"Worker", 2}}, {trains}};
    expect_problems(kind, common(kind, good, "Worker",
                                 {"name", "empty containers", "empty image", "container name"}));
    expect_problems(kind, {{"valid", good},
                           {"more than one scheduler",
                            {{{"Scheduler", 2}, {"Server", 1}, {"Worker", 2}}, {trains}},
                            "Forbidden",
                            "spec.mxReplicaSpecs.Scheduler.replicas",
                            ""}});
}

// ---- defaults ----

std::string replica_path(const JobKind& kind, const std::string& rest) {
    return "spec/" + std::string(kind.replicas_field) + "/Worker/" + rest;
}

/// "NAME:NUMBER" of the ports of the worker's containers.
std::vector<std::string> ports(const Job& job) {
    std::vector<std::string> found;
    for (const kube::Container& container : job.replica("Worker")->template_.spec.containers)
        for (const kube::ContainerPort& port : container.ports)
            found.push_back(port.name + ":" + std::to_string(port.container_port));
    return found;
}

struct DefaultCase {
    std::string name;
    std::vector<Edit> edits;
    std::int32_t replicas;
    std::string restart_policy;
    std::vector<std::string> ports;
    std::string clean = "None";
};

void expect_defaults(const JobKind& kind, const std::map<std::string, int>& others,
                     const std::vector<DefaultCase>& cases) {
    for (const DefaultCase& row : cases) {
        SCOPED_TRACE(row.name);
        Shape shape{others, row.edits};
        if (kind.resource.kind == "MXJob") shape.edits.push_back({"spec/jobMode", R"("MXTrain")"});
        shape.replicas["Worker"] = 3;
        const Job job = job_of(kind, shape);
        EXPECT_EQ(job.replica("Worker")->replicas, row.replicas);
        EXPECT_EQ(job.replica("Worker")->restart_policy, row.restart_policy);
        EXPECT_EQ(ports(job), row.ports);
        EXPECT_EQ(job.run_policy.clean_pod_policy, row.clean);
    }
}

TEST(UpstreamDefaults, TestSetDefaultTFJob) {
    const JobKind& kind = kind_of("TFJob");
    const std::string port_list = replica_path(kind, "template/spec/containers/0/ports");
    expect_defaults(
        kind, {},
        {{"set replicas",
          {{replica_path(kind, "replicas"), ""},
           {replica_path(kind, "restartPolicy"), R"("Always")"}},
          1,
          "Always",
          {"tfjob-port:2222"}},
         {"set replicas with default restartpolicy", {}, 3, "Never", {"tfjob-port:2222"}},
         {"set replicas with default port",
          {{port_list, R"([{"name": "tfjob-port", "containerPort": 2222}])"}},
          3,
          "Never",
          {"tfjob-port:2222"}},
         {"set replicas adding default port",
          {{port_list, R"([{"name": "custom", "containerPort": 1234}])"}},
          3,
          "Never",
          {"custom:1234", "tfjob-port:2222"}},
         {"set custom cleanpod policy",
          {{"spec/runPolicy/cleanPodPolicy", R"("All")"}},
          3,
          "Never",
          {"tfjob-port:2222"},
          "All"}});
}

TEST(UpstreamDefaults, TestSetDefaultsXGBoostJob) {
    const JobKind& kind = kind_of("XGBoostJob");
    const std::string port_list = replica_path(kind, "template/spec/containers/0/ports");
    expect_defaults(kind, {{"Master", 1}},
                    {{"set spec with minimum setting",
                      {{replica_path(kind, "replicas"), ""}},
                      1,
                      "Never",
                      {"xgboostjob-port:9999"}},
                     {"Set spec with restart policy",
                      {{replica_path(kind, "restartPolicy"), R"("OnFailure")"}},
                      3,
                      "OnFailure",
                      {"xgboostjob-port:9999"}},
                     {"Set spec with replicas", {}, 3, "Never", {"xgboostjob-port:9999"}},
                     {"Set spec with default node port name and port",
                      {{port_list, R"([{"name": "xgboostjob-port", "containerPort": 9999}])"}},
                      3,
                      "Never",
                      {"xgboostjob-port:9999"}},
                     {"Set spec with node port",
                      {{port_list, R"([{"name": "xgboostjob-port", "containerPort": 9999},
                           {"name": "other", "containerPort": 8888}])"}},
                      3,
                      "Never",
                      {"xgboostjob-port:9999", "other:8888"}},
                     {"set spec with cleanpod policy",
                      {{"spec/runPolicy/cleanPodPolicy", R"("All")"}},
                      3,
                      "Never",
                      {"xgboostjob-port:9999"},
                      "All"}});
}

TEST(UpstreamDefaults, TestSetDefaultsMXJob) {
    const JobKind& kind = kind_of("MXJob");
    const std::string port_list = replica_path(kind, "template/spec/containers/0/ports");
    expect_defaults(kind, {{"Scheduler", 1}, {"Server", 1}},
                    {{"minimum setting",
                      {{replica_path(kind, "replicas"), ""}},
                      1,
                      "Never",
                      {"mxjob-port:9091"}},
                     {"restart policy",
                      {{replica_path(kind, "restartPolicy"), R"("OnFailure")"}},
                      3,
                      "OnFailure",
                      {"mxjob-port:9091"}},
                     {"a custom port",
                      {{port_list, R"([{"name": "other", "containerPort": 1234}])"}},
                      3,
                      "Never",
                      {"other:1234", "mxjob-port:9091"}},
                     {"cleanpod policy",
                      {{"spec/runPolicy/cleanPodPolicy", R"("Running")"}},
                      3,
                      "Never",
                      {"mxjob-port:9091"},
                      "Running"}});
}

TEST(UpstreamDefaults, TestSetTypeNames) {
    const Job job = job_of(kind_of("TFJob"), {{{"WORKER", 2}}});
    ASSERT_NE(job.replica("Worker"), nullptr);
    EXPECT_EQ(job.replica("WORKER"), nullptr);
}

// Which replica is chief or master shows in its role label.
TEST(UpstreamDefaults, TestIsChiefOrMaster) {
    const auto has_role = [](const char* first, const char* asked) {
        const Job job = job_of(kind_of("TFJob"), {{{first, 1}, {"Worker", 1}}});
        return build_pod(job, {asked, 0})->metadata.labels.contains(std::string(labels::kJobRole));
    };
    EXPECT_TRUE(has_role("Chief", "Chief"));
    EXPECT_TRUE(has_role("Master", "Master"));
    EXPECT_FALSE(has_role("Chief", "Worker"));
}

TEST(UpstreamEnvironment, TestSetPodEnv) {
    const JobKind& kind = kind_of("JAXJob");
    expect_environments(
        kind, {{"successful environment variable setup",
                {{{"Worker", 1}}},
                {"Worker", 0},
                {"PYTHONUNBUFFERED=1", "COORDINATOR_PORT=6666", "COORDINATOR_ADDRESS=j-worker-0",
                 "NUM_PROCESSES=1", "PROCESS_ID=0"}}});
    // "invalid index for PROCESS_ID" can't be: an index is a number here.
    static_assert(std::is_integral_v<decltype(ReplicaId::index)>);
    Job job = job_of(kind, {{{"Worker", 1}}});
    for (auto& [type, replica] : job.replicas) replica.template_.spec.containers[0].ports.clear();
    const auto pod = build_pod(job, {"Worker", 0});
    ASSERT_FALSE(pod.has_value()) << "missing container port in JAXJob";
    EXPECT_THAT(pod.error().message(), testing::HasSubstr("jaxjob-port"));
}

}  // namespace
}  // namespace muster::jobs::upstream_rules_test
