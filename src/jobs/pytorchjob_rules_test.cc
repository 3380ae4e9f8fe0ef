#include "jobs/internal/test_rules.h"

namespace muster::jobs::pytorchjob_rules_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;

const std::string kMaster = "spec/pytorchReplicaSpecs/Master";
const std::string kWorker = "spec/pytorchReplicaSpecs/Worker";
const std::string kContainer = kWorker + "/template/spec/containers/0";
const std::string kContainerField = "spec.pytorchReplicaSpecs.Worker.template.spec.containers[0]";

TEST(PyTorchRules, Names) {
    expect_each({
        {"webhook: valid", {}, "", "", ""},
        {"webhook: bad DNS1035 name",
         {{"metadata/name", R"("0-demo")"}},
         "Invalid",
         "metadata.name",
         "\"demo\" would do"},
        {"upper case and underscores",
         {{"metadata/name", R"("My_Job!")"}},
         "Invalid",
         "metadata.name",
         "\"my-job\" would do"},
        {"nothing to suggest",
         {{"metadata/name", R"("42")"}},
         "Invalid",
         "metadata.name",
         "is not a job name"},
        {"ends with '-'", {{"metadata/name", R"("demo-")"}}, "Invalid", "metadata.name", "last"},
        {"no name", {{"metadata/name", ""}}, "Required", "metadata.name", "needs a name"},
        {"no metadata", {{"metadata", ""}}, "Required", "metadata.name", "needs a name"},
        {"generated name",
         {{"metadata/name", ""}, {"metadata/generateName", R"("demo-")"}},
         "",
         "",
         ""},
        {"generated from a bad one",
         {{"metadata/name", ""}, {"metadata/generateName", R"("Demo-")"}},
         "Invalid",
         "metadata.generateName",
         "\"Demo-\" is not a job name"},
        // project-codeflare/mlbatch issue 38: the pod's suffix counts.
        {"the longest that fits",
         {{"metadata/name", '"' + std::string(54, 'a') + '"'}},
         "",
         "",
         ""},
        {"one too long for its pods",
         {{"metadata/name", '"' + std::string(55, 'a') + '"'}},
         "Invalid",
         "metadata.name",
         "shorten the name by 1"},
        {"the highest index counts",
         {{"metadata/name", '"' + std::string(54, 'a') + '"'}, {kWorker + "/replicas", "11"}},
         "Invalid",
         "metadata.name",
         "-worker-10\" would have 64 of at most 63"},
        {"the master counts too",
         {{"metadata/name", '"' + std::string(56, 'a') + '"'},
          {"spec/pytorchReplicaSpecs/Worker", ""},
          {"spec/pytorchReplicaSpecs/Master/replicas", ""}},
         "Invalid",
         "metadata.name",
         "-master-0\" would have 65"},
        {"a generated name has five more characters",
         {{"metadata/name", ""}, {"metadata/generateName", '"' + std::string(50, 'a') + '"'}},
         "Invalid",
         "metadata.generateName",
         "shorten the name by 1"},
    });
}

TEST(PyTorchRules, RunPolicy) {
    expect_each({
        {"webhook: unsupported managedBy",
         {{"spec/runPolicy/managedBy", R"("other.domain/controller")"}},
         "NotSupported",
         "spec.runPolicy.managedBy",
         "kueue.x-k8s.io/multikueue"},
        {"own managedBy",
         {{"spec/runPolicy/managedBy", R"("kubeflow.org/training-operator")"}},
         "",
         "",
         ""},
        {"multikueue",
         {{"spec/runPolicy/managedBy", R"("kueue.x-k8s.io/multikueue")"}},
         "",
         "",
         ""},
        {"empty managedBy, as the webhook has it",
         {{"spec/runPolicy/managedBy", R"("")"}},
         "NotSupported",
         "spec.runPolicy.managedBy",
         ""},
        {"cleanPodPolicy",
         {{"spec/runPolicy/cleanPodPolicy", R"("Al")"}},
         "NotSupported",
         "spec.runPolicy.cleanPodPolicy",
         "did you mean \"All\"?"},
        {"negative backoffLimit",
         {{"spec/runPolicy/backoffLimit", "-1"}},
         "Invalid",
         "spec.runPolicy.backoffLimit",
         "-1"},
        {"negative activeDeadlineSeconds",
         {{"spec/runPolicy/activeDeadlineSeconds", "-1"}},
         "Invalid",
         "spec.runPolicy.activeDeadlineSeconds",
         "-1"},
        {"negative ttlSecondsAfterFinished",
         {{"spec/runPolicy/ttlSecondsAfterFinished", "-1"}},
         "Invalid",
         "spec.runPolicy.ttlSecondsAfterFinished",
         "-1"},
        {"negative minAvailable",
         {{"spec/runPolicy/schedulingPolicy/minAvailable", "-1"}},
         "Invalid",
         "spec.runPolicy.schedulingPolicy.minAvailable",
         "-1"},
        {"wrong type",
         {{"spec/runPolicy/suspend", R"("yes")"}},
         "TypeInvalid",
         "spec.runPolicy.suspend",
         "must be true or false"},
    });
}

TEST(PyTorchRules, Replicas) {
    expect_each({
        {"no spec", {{"spec", ""}}, "Required", "spec.pytorchReplicaSpecs", "add \"Master\""},
        {"no replica specs",
         {{"spec/pytorchReplicaSpecs", ""}},
         "Required",
         "spec.pytorchReplicaSpecs",
         "add \"Master\" or \"Worker\""},
        {"empty replica specs",
         {{"spec/pytorchReplicaSpecs", "{}"}},
         "Required",
         "spec.pytorchReplicaSpecs",
         "add"},
        {"null replica, which crashes the webhook",
         {{kWorker, "null"}},
         "Required",
         "spec.pytorchReplicaSpecs.Worker.template.spec.containers",
         "add one that is named \"pytorch\""},
        {"unknown type",
         {{"spec/pytorchReplicaSpecs/Wroker", R"({"replicas":1})"}},
         "NotSupported",
         "spec.pytorchReplicaSpecs.Wroker",
         "did you mean \"Worker\"?"},
        {"the same type twice",
         {{"spec/pytorchReplicaSpecs/worker", R"({"replicas":1})"}},
         "Duplicate",
         "spec.pytorchReplicaSpecs.worker",
         "Worker again"},
        {"webhook: Master replicas not 1",
         {{kMaster + "/replicas", "2"}},
         "Forbidden",
         "spec.pytorchReplicaSpecs.Master.replicas",
         "must be 1, got 2; more pods go into \"Worker\""},
        {"Master replicas 0",
         {{kMaster + "/replicas", "0"}},
         "Forbidden",
         "spec.pytorchReplicaSpecs.Master.replicas",
         "must be 1, got 0"},
        {"Master replicas absent: 1 (the webhook refuses it)",
         {{kMaster + "/replicas", ""}},
         "",
         "",
         ""},
        {"webhook: Worker replicas 0, accepted here", {{kWorker + "/replicas", "0"}}, "", "", ""},
        {"negative Worker replicas",
         {{kWorker + "/replicas", "-1"}},
         "Invalid",
         "spec.pytorchReplicaSpecs.Worker.replicas",
         "-1"},
        {"negative Master replicas",
         {{kMaster + "/replicas", "-1"}},
         "Invalid",
         "spec.pytorchReplicaSpecs.Master.replicas",
         "-1"},
        {"fractional replicas",
         {{kWorker + "/replicas", "1.5"}},
         "TypeInvalid",
         "spec.pytorchReplicaSpecs.Worker.replicas",
         "must be an integer, got 1.5"},
        {"replicas in quotes",
         {{kWorker + "/replicas", R"("2")"}},
         "TypeInvalid",
         "spec.pytorchReplicaSpecs.Worker.replicas",
         "must be an integer"},
        {"more than fit an int32",
         {{kWorker + "/replicas", "5000000000"}},
         "TypeInvalid",
         "spec.pytorchReplicaSpecs.Worker.replicas",
         "5000000000"},
        {"more than any cluster runs",
         {{kWorker + "/replicas", "100001"}},
         "Invalid",
         "spec.pytorchReplicaSpecs.Worker.replicas",
         "100000"},
        {"bad restart policy",
         {{kWorker + "/restartPolicy", R"("Sometimes")"}},
         "NotSupported",
         "spec.pytorchReplicaSpecs.Worker.restartPolicy",
         R"(write "Always", "OnFailure", "Never" or "ExitCode")"},
        {"nearly a restart policy",
         {{kWorker + "/restartPolicy", R"("onFailure")"}},
         "NotSupported",
         "spec.pytorchReplicaSpecs.Worker.restartPolicy",
         "did you mean \"OnFailure\"?"},
        {"empty restart policy: the default", {{kWorker + "/restartPolicy", R"("")"}}, "", "", ""},
        {"problems are where the manifest spells them",
         {{kWorker, ""}, {"spec/pytorchReplicaSpecs/WORKER", R"({"replicas":1})"}},
         "Required",
         "spec.pytorchReplicaSpecs.WORKER.template.spec.containers",
         "there are no containers"},
    });
}

TEST(PyTorchRules, Elastic) {
    expect_each({
        {"webhook: elasticPolicy without Worker",
         {{"spec/elasticPolicy", "{}"}, {kWorker, ""}},
         "Required",
         "spec.pytorchReplicaSpecs.Worker",
         "elasticPolicy needs workers"},
        {"minReplicas above maxReplicas",
         {{"spec/elasticPolicy", R"({"minReplicas":4,"maxReplicas":2})"}},
         "Invalid",
         "spec.elasticPolicy.minReplicas",
         "4 is more than 2"},
        {"minReplicas alone, and too large",
         {{"spec/elasticPolicy", R"({"minReplicas":200000})"}},
         "Invalid",
         "spec.elasticPolicy.minReplicas",
         "100000"},
        {"minReplicas alone", {{"spec/elasticPolicy", R"({"minReplicas":4})"}}, "", "", ""},
        {"minReplicas 0",
         {{"spec/elasticPolicy", R"({"minReplicas":0})"}},
         "Invalid",
         "spec.elasticPolicy.minReplicas",
         "1"},
        {"webhook: both nproc fields",
         {{"spec/elasticPolicy/nProcPerNode", "2"}, {"spec/nprocPerNode", R"("2")"}},
         "Forbidden",
         "spec.elasticPolicy.nProcPerNode",
         "keep only that one"},
        {"webhook: elastic nProcPerNode alone",
         {{"spec/elasticPolicy/nProcPerNode", "2"}},
         "",
         "",
         ""},
        {"rdzvPort out of range",
         {{"spec/elasticPolicy/rdzvPort", "65536"}},
         "Invalid",
         "spec.elasticPolicy.rdzvPort",
         "65535"},
        {"nprocPerNode 0",
         {{"spec/nprocPerNode", R"("0")"}},
         "Invalid",
         "spec.nprocPerNode",
         "from 1 on, got 0"},
        {"nprocPerNode without quotes",
         {{"spec/nprocPerNode", "4"}},
         "TypeInvalid",
         "spec.nprocPerNode",
         "\"4\""},
    });
}

TEST(PyTorchRules, WhatMayNotChange) {
    struct Update {
        std::string name;
        std::vector<Edit> before;
        std::vector<Edit> after;
        std::string field;  ///< "" when the change is allowed
    };
    auto managed_by = [](const std::string& value) {
        return std::vector<Edit>{{"spec/runPolicy/managedBy", '"' + value + '"'}};
    };
    auto queue = [](const std::string& value) {
        return std::vector<Edit>{{"spec/runPolicy/schedulingPolicy/queue", '"' + value + '"'}};
    };
    const std::string ours = "kubeflow.org/training-operator";
    const std::string theirs = "kueue.x-k8s.io/multikueue";
    const std::vector<Update> cases = {
        {"nothing", {}, {}, ""},
        {"replicas", {}, {{kWorker + "/replicas", "5"}}, ""},
        {"webhook: managedBy changed", managed_by(ours), managed_by(theirs),
         "spec.runPolicy.managedBy"},
        {"managedBy added", {}, managed_by(theirs), "spec.runPolicy.managedBy"},
        {"queue set", {}, queue("a"), ""},
        {"queue immutability", queue("a"), queue("b"), "spec.runPolicy.schedulingPolicy.queue"},
        {"queue removed", queue("a"), {}, "spec.runPolicy.schedulingPolicy.queue"},
        {"queue kept", queue("a"), queue("a"), ""},
    };
    for (const Update& row : cases) {
        SCOPED_TRACE(row.name);
        const std::vector<Cause> causes =
            validate_update(pytorch_job(row.before), pytorch_job(row.after));
        if (row.field.empty())
            EXPECT_THAT(causes, IsEmpty());
        else
            EXPECT_THAT(causes, ElementsAre(AllOf(Field(&Cause::field, row.field),
                                                  Field(&Cause::reason, "FieldValueInvalid"))));
    }
}

TEST(PyTorchRules, AllProblemsAtOnceEvenBesideUnreadableParts) {
    const Review seen = review(
        pytorch_kind(), pytorch_manifest({{"metadata/name", R"("Demo")"},
                                          {"spec/runPolicy", "[]"},
                                          {kMaster + "/replicas", "3"},
                                          {kMaster + "/template/spec/containers/0/image", R"("")"},
                                          {kWorker + "/replicas", R"("two")"},
                                          {kContainer + "/ports", R"([{"containerPort":0}])"},
                                          {kContainer + "/name", R"("trainer")"}}));
    std::vector<std::string> fields;
    for (const Cause& cause : seen.problems) fields.push_back(cause.field);
    EXPECT_THAT(
        fields,
        testing::UnorderedElementsAre(
            "metadata.name", "spec.runPolicy", "spec.pytorchReplicaSpecs.Master.replicas",
            "spec.pytorchReplicaSpecs.Master.template.spec.containers[0].image",
            "spec.pytorchReplicaSpecs.Worker.replicas", kContainerField + ".ports[0].containerPort",
            "spec.pytorchReplicaSpecs.Worker.template.spec.containers"));
}

TEST(PyTorchRules, WhatCouldNotBeReadIsNotBlamedForWhatItLacks) {
    const Review seen = review(pytorch_kind(), pytorch_manifest({{kWorker + "/template", "7"}}));
    EXPECT_THAT(seen.problems,
                ElementsAre(Field(&Cause::field, "spec.pytorchReplicaSpecs.Worker.template")));
}

TEST(PyTorchRules, AnythingButAnObjectIsRefused) {
    for (const char* text : {"null", "7", "[]", R"("x")"}) {
        SCOPED_TRACE(text);
        EXPECT_FALSE(load(pytorch_kind(), json::parse(text)).has_value());
    }
}

TEST(PyTorchRules, AStatusInAManifestIsNotHeldAgainstIt) {
    EXPECT_TRUE(load(pytorch_kind(), pytorch_manifest({{"status", R"({"conditions":7})"}})));
}

TEST(PyTorchRules, ParseReportsWrongTypesOnly) {
    EXPECT_TRUE(pytorch_kind().parse(pytorch_manifest({{kMaster + "/replicas", "3"}})));
    const auto parsed = pytorch_kind().parse(pytorch_manifest({{kMaster + "/replicas", "[]"}}));
    ASSERT_FALSE(parsed.has_value());
    EXPECT_EQ(parsed.error().code(), Code::kBadRequest);
    EXPECT_THAT(parsed.error().causes(),
                ElementsAre(Field(&Cause::field, "spec.pytorchReplicaSpecs.Master.replicas")));
}

}  // namespace
}  // namespace muster::jobs::pytorchjob_rules_test
