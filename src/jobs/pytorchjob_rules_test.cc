#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jobs/internal/test_manifest.h"

namespace muster::jobs {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string kMaster = "spec/pytorchReplicaSpecs/Master";
const std::string kWorker = "spec/pytorchReplicaSpecs/Worker";
const std::string kContainer = kWorker + "/template/spec/containers/0";
const std::string kContainerField = "spec.pytorchReplicaSpecs.Worker.template.spec.containers[0]";

struct Case {
    std::string name;  ///< upstream's where there is one: "webhook:" is pytorch_webhook_test.go
    std::vector<Edit> edits;
    std::string reason;  ///< "" for none: the manifest is good
    std::string field;
    std::string message;  ///< a part of it
};

void expect_each(const std::vector<Case>& cases) {
    for (const Case& row : cases) {
        SCOPED_TRACE(row.name);
        const Review seen = review(pytorch_kind(), pytorch_manifest(row.edits));
        if (row.reason.empty()) {
            EXPECT_THAT(seen.problems, IsEmpty());
            continue;
        }
        EXPECT_THAT(seen.problems,
                    ElementsAre(AllOf(Field("reason", &Cause::reason, "FieldValue" + row.reason),
                                      Field("field", &Cause::field, row.field),
                                      Field("message", &Cause::message, HasSubstr(row.message)))));
        const auto loaded = load(pytorch_kind(), pytorch_manifest(row.edits));
        ASSERT_FALSE(loaded.has_value());
        EXPECT_EQ(loaded.error().code(), Code::kInvalid);
        EXPECT_EQ(loaded.error().causes(), seen.problems);
        EXPECT_THAT(loaded.error().message(), AllOf(HasSubstr(row.field), HasSubstr(row.message)));
    }
}

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
         "no job"},
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
         "\"Demo-\" is no job name"},
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

TEST(PyTorchRules, Containers) {
    const std::string containers = "spec.pytorchReplicaSpecs.Worker.template.spec.containers";
    const std::string spec = kWorker + "/template/spec";
    expect_each({
        {"webhook: no containers",
         {{spec + "/containers", "[]"}},
         "Required",
         containers,
         "there are no containers"},
        {"no template", {{kWorker + "/template", ""}}, "Required", containers, "no containers"},
        {"webhook: empty image",
         {{kContainer + "/image", R"("")"}},
         "Required",
         containers + "[0].image",
         "needs an image"},
        {"image of a sidecar",
         {{spec + "/containers/1", R"({"name":"log"})"}},
         "Required",
         containers + "[1].image",
         "needs an image"},
        {"image of an init container",
         {{spec + "/initContainers", R"([{"name":"prepare"}])"}},
         "Required",
         "spec.pytorchReplicaSpecs.Worker.template.spec.initContainers[0].image",
         "needs an image"},
        {"webhook: missing pytorch container",
         {{kContainer + "/name", R"("trainer")"}},
         "Required",
         containers,
         "no container is named \"pytorch\" (there is trainer)"},
        {"all names are told",
         {{spec + "/containers", R"([{"name":"a","image":"x"},{"name":"b","image":"x"}])"}},
         "Required",
         containers,
         "(there are a, b)"},
        {"no name", {{kContainer + "/name", ""}}, "Required", containers + "[0].name", ""},
        {"bad name",
         {{spec + "/containers/1", R"({"name":"Side_car","image":"x"})"}},
         "Invalid",
         containers + "[1].name",
         "no container name"},
        {"duplicate name",
         {{spec + "/containers/1", R"({"name":"pytorch","image":"x"})"}},
         "Duplicate",
         containers + "[1].name",
         "named \"pytorch\""},
        {"duplicate of an init container",
         {{spec + "/initContainers", R"([{"name":"pytorch","image":"x"}])"}},
         "Duplicate",
         containers + "[0].name",
         "named \"pytorch\""},
        {"wrong type of the list",
         {{spec + "/containers", R"({"name":"pytorch"})"}},
         "TypeInvalid",
         containers,
         "must be a list, got an object"},
    });
}

TEST(PyTorchRules, PortsEnvMountsAndLabels) {
    const std::string spec = kWorker + "/template/spec";
    expect_each({
        {"port above",
         {{kContainer + "/ports", R"([{"containerPort":70000}])"}},
         "Invalid",
         kContainerField + ".ports[0].containerPort",
         "between 1 and 65535, got 70000"},
        {"port 0",
         {{kContainer + "/ports", R"([{"containerPort":0}])"}},
         "Invalid",
         kContainerField + ".ports[0].containerPort",
         "between 1 and 65535, got 0"},
        {"port name too long",
         {{kContainer + "/ports", R"([{"name":"sixteen-letters-","containerPort":1}])"}},
         "Invalid",
         kContainerField + ".ports[0].name",
         "at most 15"},
        {"two ports of one name",
         {{kContainer + "/ports",
           R"([{"name":"a","containerPort":1},{"name":"a","containerPort":2}])"}},
         "Duplicate",
         kContainerField + ".ports[1].name",
         "named \"a\""},
        {"env name with '='",
         {{kContainer + "/env", R"([{"name":"A=1"}])"}},
         "Invalid",
         kContainerField + ".env[0].name",
         "`value`"},
        {"env value and valueFrom",
         {{kContainer + "/env",
           R"([{"name":"A","value":"1","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}}])"}},
         "Invalid",
         kContainerField + ".env[0].valueFrom",
         "remove one"},
        {"env value without quotes",
         {{kContainer + "/env", R"([{"name":"A","value":1}])"}},
         "TypeInvalid",
         kContainerField + ".env[0].value",
         "\"1\""},
        {"mount without its volume",
         {{kContainer + "/volumeMounts", R"([{"name":"data","mountPath":"/data"}])"}},
         "NotFound",
         kContainerField + ".volumeMounts[0].name",
         "no volume \"data\""},
        {"mount of a volume that is spelled otherwise",
         {{kContainer + "/volumeMounts", R"([{"name":"datas","mountPath":"/data"}])"},
          {spec + "/volumes", R"([{"name":"data","emptyDir":{}}])"}},
         "NotFound",
         kContainerField + ".volumeMounts[0].name",
         "did you mean \"data\"?"},
        {"mount of a volume",
         {{kContainer + "/volumeMounts", R"([{"name":"data","mountPath":"/data"}])"},
          {spec + "/volumes", R"([{"name":"data","emptyDir":{}}])"}},
         "",
         "",
         ""},
        {"two mounts at one path",
         {{kContainer + "/volumeMounts",
           R"([{"name":"a","mountPath":"/data"},{"name":"b","mountPath":"/data"}])"},
          {spec + "/volumes", R"([{"name":"a","emptyDir":{}},{"name":"b","emptyDir":{}}])"}},
         "Duplicate",
         kContainerField + ".volumeMounts[1].mountPath",
         "/data"},
        {"two volumes of one name",
         {{spec + "/volumes", R"([{"name":"a","emptyDir":{}},{"name":"a","emptyDir":{}}])"}},
         "Duplicate",
         "spec.pytorchReplicaSpecs.Worker.template.spec.volumes[1].name",
         "named \"a\""},
        {"bad volume size",
         {{spec + "/volumes", R"([{"name":"a","emptyDir":{"sizeLimit":"1 GB"}}])"}},
         "Invalid",
         "spec.pytorchReplicaSpecs.Worker.template.spec.volumes[0].emptyDir.sizeLimit",
         "1 GB"},
        {"bad label value",
         {{kWorker + "/template/metadata/labels", R"({"team":"a b"})"}},
         "Invalid",
         "spec.pytorchReplicaSpecs.Worker.template.metadata.labels.team",
         "annotation"},
    });
}

TEST(PyTorchRules, Resources) {
    const std::string field = kContainerField + ".resources";
    expect_each({
        {"bad quantity",
         {{kContainer + "/resources", R"({"limits":{"cpu":"1.5xyz"}})"}},
         "Invalid",
         field + ".limits.cpu",
         "1.5xyz"},
        {"negative",
         {{kContainer + "/resources", R"({"requests":{"memory":"-1Gi"}})"}},
         "Invalid",
         field + ".requests.memory",
         "-1Gi"},
        {"request above limit",
         {{kContainer + "/resources", R"({"requests":{"cpu":"2"},"limits":{"cpu":"1500m"}})"}},
         "Invalid",
         field + ".requests.cpu",
         "request 2 is above the limit 1500m"},
        {"request below limit",
         {{kContainer + "/resources", R"({"requests":{"cpu":"1"},"limits":{"cpu":"1500m"}})"}},
         "",
         "",
         ""},
        {"a device that is shared",
         {{kContainer + "/resources",
           R"({"requests":{"nvidia.com/gpu":1},"limits":{"nvidia.com/gpu":2}})"}},
         "Invalid",
         field + ".requests[nvidia.com/gpu]",
         "must equal the limit 2"},
        {"equal numbers written differently",
         {{kContainer + "/resources",
           R"({"requests":{"nvidia.com/gpu":"2"},"limits":{"nvidia.com/gpu":2}})"}},
         "",
         "",
         ""},
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
}  // namespace muster::jobs
