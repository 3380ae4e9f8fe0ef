#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jobs/internal/test_manifest.h"

namespace muster::jobs::warnings_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string kWorker = "spec/pytorchReplicaSpecs/Worker";
const std::string kContainer = kWorker + "/template/spec/containers/0";
const std::string kTemplateField = "spec.pytorchReplicaSpecs.Worker.template";

struct Case {
    std::string name;
    std::vector<Edit> edits;
    std::string reason;  ///< "" for no warning
    std::string field;
    std::string message;
};

TEST(Warnings, NameTheFieldTheReasonAndWhatToDo) {
    const std::vector<Case> cases = {
        {"nothing to say", {}, "", "", ""},
        {"webhook: elastic nProcPerNode alone",
         {{"spec/elasticPolicy/nProcPerNode", "2"}},
         "Deprecated",
         "spec.elasticPolicy.nProcPerNode",
         "use spec.nprocPerNode"},
        {"elastic metrics",
         {{"spec/elasticPolicy/metrics", "[]"}},
         "Ineffective",
         "spec.elasticPolicy.metrics",
         "no effect"},
        {"workers outside of minReplicas and maxReplicas",
         {{"spec/elasticPolicy", R"({"minReplicas":3,"maxReplicas":4})"}},
         "Doubtful",
         "spec.pytorchReplicaSpecs.Worker.replicas",
         "2 is outside"},
        {"a range that leaves the master out",
         {{"spec/elasticPolicy", R"({"minReplicas":1,"maxReplicas":2})"}},
         "Doubtful",
         "spec.elasticPolicy.maxReplicas",
         "takes 2 pods at most, and the Master with 2 workers makes 3"},
        {"the same without a maximum",
         {{"spec/elasticPolicy", R"({"minReplicas":2})"}},
         "Doubtful",
         "spec.elasticPolicy.minReplicas",
         "takes 2 pods at most"},
        {"a range with the master",
         {{"spec/elasticPolicy", R"({"maxReplicas":3,"minReplicas":2})"}},
         "",
         "",
         ""},
        {"no range", {{"spec/elasticPolicy", "{}"}}, "", "", ""},
        {"standalone",
         {{"spec/elasticPolicy", R"({"standalone":true})"}},
         "Doubtful",
         "spec.elasticPolicy.standalone",
         "torchrun ends at it"},
        {"no pods at all",
         {{"spec/pytorchReplicaSpecs/Master", ""}, {kWorker + "/replicas", "0"}},
         "Doubtful",
         "spec.pytorchReplicaSpecs.Worker.replicas",
         "no pods"},
        {"workers without a master",
         {{"spec/pytorchReplicaSpecs/Master", ""}},
         "Doubtful",
         "spec.pytorchReplicaSpecs",
         "each of the 2 workers would train alone"},
        {"one worker without a master",
         {{"spec/pytorchReplicaSpecs/Master", ""}, {kWorker + "/replicas", "1"}},
         "",
         "",
         ""},
        {"workers without a master, with an elasticPolicy",
         {{"spec/pytorchReplicaSpecs/Master", ""},
          {"spec/elasticPolicy", R"({"minReplicas":1,"maxReplicas":2})"}},
         "",
         "",
         ""},
        {"no workers beside a master", {{kWorker + "/replicas", "0"}}, "", "", ""},
        {"a word that torchrun does not know",
         {{"spec/nprocPerNode", R"("gpus")"}},
         "Doubtful",
         "spec.nprocPerNode",
         "\"gpus\""},
        {"somebody else's scheduler",
         {{kWorker + "/template/spec/schedulerName", R"("volcano")"}},
         "Doubtful",
         kTemplateField + ".spec.schedulerName",
         "wait for a scheduler named volcano"},
        {"the scheduler that there is",
         {{kWorker + "/template/spec/schedulerName", R"("default-scheduler")"}},
         "",
         "",
         ""},
        {"restart policy in the template (SetPodTemplateRestartPolicy)",
         {{kWorker + "/template/spec/restartPolicy", R"("Always")"}},
         "Ineffective",
         kTemplateField + ".spec.restartPolicy",
         "overwritten with \"OnFailure\"; set spec.pytorchReplicaSpecs.Worker.restartPolicy"},
        {"the same restart policy in the template",
         {{kWorker + "/template/spec/restartPolicy", R"("OnFailure")"}},
         "",
         "",
         ""},
        {"ExitCode is Never for the pod",
         {{kWorker + "/template/spec/restartPolicy", R"("Never")"},
          {kWorker + "/restartPolicy", R"("ExitCode")"}},
         "",
         "",
         ""},
        {"name in the template",
         {{kWorker + "/template/metadata/name", R"("mine")"}},
         "Ineffective",
         kTemplateField + ".metadata.name",
         "named after the job"},
        {"namespace in the template",
         {{kWorker + "/template/metadata/namespace", R"("other")"}},
         "Ineffective",
         kTemplateField + ".metadata.namespace",
         "the job's namespace"},
        {"the job's own namespace in the template",
         {{kWorker + "/template/metadata/namespace", R"("ml")"}},
         "",
         "",
         ""},
        {"a variable twice",
         {{kContainer + "/env", R"([{"name":"A","value":"1"},{"name":"A","value":"2"}])"}},
         "Doubtful",
         kTemplateField + ".spec.containers[0].env[1].name",
         "A is set more than once"},
        {"a variable that the operator sets",
         {{kContainer + "/env", R"([{"name":"WORLD_SIZE","value":"8"}])"}},
         "Ineffective",
         kTemplateField + ".spec.containers[0].env[0]",
         "WORLD_SIZE is set by the operator"},
        {"a variable that the operator sets to the same value",
         {{kContainer + "/env", R"([{"name":"PYTHONUNBUFFERED","value":"1"}])"}},
         "",
         "",
         ""},
        {"a reference where the operator sets a value",
         {{kContainer + "/env",
           R"([{"name":"RANK","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}}])"}},
         "Ineffective",
         kTemplateField + ".spec.containers[0].env[0]",
         "RANK is set by the operator"},
    };
    for (const Case& row : cases) {
        SCOPED_TRACE(row.name);
        const Review seen = review(pytorch_kind(), pytorch_manifest(row.edits));
        EXPECT_THAT(seen.problems, IsEmpty());
        if (row.reason.empty()) {
            EXPECT_THAT(seen.warnings, IsEmpty());
            continue;
        }
        EXPECT_THAT(seen.warnings,
                    ElementsAre(AllOf(Field("reason", &Cause::reason, row.reason),
                                      Field("field", &Cause::field, row.field),
                                      Field("message", &Cause::message, HasSubstr(row.message)))));
    }
}

Platform cluster_with(std::string gang_scheduler) {
    return {.node_program = {},
            .cluster_domain = {},
            .cluster = true,
            .gang_scheduler = std::move(gang_scheduler)};
}

TEST(Warnings, SayWhichFieldsOfTheSchedulingPolicyNobodyReads) {
    struct Row {
        std::string name;
        Platform platform;
        std::vector<std::string> unread;
        std::string why;
    };
    const std::string queue = "queue";
    for (const Row& row : std::vector<Row>{
             {"one machine",
              {},
              {queue, "minResources", "priorityClass", "scheduleTimeoutSeconds"},
              "on one machine"},
             {"no gang scheduler",
              cluster_with(""),
              {"minAvailable", queue, "minResources", "priorityClass", "scheduleTimeoutSeconds"},
              "--gang-scheduler-name"},
             {"Volcano", cluster_with("Volcano"), {"scheduleTimeoutSeconds"}, "Volcano"},
             {"scheduler-plugins",
              cluster_with("coscheduling"),
              {queue, "priorityClass"},
              "scheduler-plugins does not"},
             {"YuniKorn",
              cluster_with("yunikorn"),
              {"minResources", "priorityClass"},
              "YuniKorn does not"},
         }) {
        SCOPED_TRACE(row.name);
        const Review seen =
            review(pytorch_kind(),
                   pytorch_manifest({{"spec/runPolicy/schedulingPolicy",
                                      R"({"minAvailable":2,"queue":"q","minResources":{"cpu":"1"},
                                          "priorityClass":"high","scheduleTimeoutSeconds":9})"}}),
                   row.platform);
        std::vector<std::string> fields;
        for (const Cause& warning : seen.warnings) {
            fields.push_back(warning.field.substr(warning.field.rfind('.') + 1));
            EXPECT_EQ(warning.reason, "Ineffective");
            EXPECT_THAT(warning.message, HasSubstr(row.why));
        }
        EXPECT_EQ(fields, row.unread);
    }
}

TEST(Warnings, LeaveThePriorityClassToKueue) {
    json::value object =
        pytorch_manifest({{"spec/runPolicy/schedulingPolicy", R"({"priorityClass":"high"})"}});
    object.at("metadata").as_object()["labels"] =
        json::object{{"kueue.x-k8s.io/queue-name", "team"}};
    EXPECT_THAT(review(pytorch_kind(), object, cluster_with("")).warnings, IsEmpty());
    EXPECT_EQ(review(pytorch_kind(), object).warnings.size(), 1u) << "there is none on one machine";
}

TEST(Warnings, TellWhoIsScheduledApartFromTheGang) {
    const auto warned = [](const std::string& scheduler, const Platform& platform) {
        return review(pytorch_kind(),
                      pytorch_manifest(
                          {{kWorker + "/template/spec/schedulerName", "\"" + scheduler + "\""}}),
                      platform)
            .warnings;
    };
    EXPECT_THAT(warned("volcano", cluster_with("volcano")), IsEmpty());
    EXPECT_THAT(warned("volcano", cluster_with("")), IsEmpty()) << "it chooses Volcano";
    EXPECT_THAT(warned("own", cluster_with("")), IsEmpty());
    EXPECT_THAT(warned("default-scheduler", cluster_with("volcano")),
                ElementsAre(AllOf(Field(&Cause::field, kTemplateField + ".spec.schedulerName"),
                                  Field(&Cause::message, HasSubstr("not for volcano")))));
}

TEST(Warnings, MetricsHaveAnEffectOnACluster) {
    const json::value object = pytorch_manifest({{"spec/elasticPolicy/metrics", "[]"}});
    EXPECT_THAT(review(pytorch_kind(), object, cluster_with("")).warnings, IsEmpty());
}

TEST(Warnings, SayNothingOfFieldsThatHaveAnEffect) {
    for (const auto& [field, value] :
         std::vector<std::pair<std::string, std::string>>{{"suspend", "true"},
                                                          {"backoffLimit", "0"},
                                                          {"activeDeadlineSeconds", "0"},
                                                          {"ttlSecondsAfterFinished", "0"}})
        EXPECT_THAT(
            review(pytorch_kind(), pytorch_manifest({{"spec/runPolicy/" + field, value}})).warnings,
            IsEmpty())
            << field;
}

TEST(Warnings, SayWhichRestartAnnotationIsNotKnown) {
    const auto warnings_with = [](const std::string& value) {
        json::value object = pytorch_manifest({});
        object.at("metadata").as_object()["annotations"] =
            json::object{{std::string(annotations::kRestart), value}};
        return review(pytorch_kind(), object).warnings;
    };
    EXPECT_THAT(warnings_with("group"), IsEmpty());
    EXPECT_THAT(warnings_with("replica"), IsEmpty());
    EXPECT_THAT(warnings_with("all"),
                ElementsAre(AllOf(Field(&Cause::field, "metadata.annotations[muster.dev/restart]"),
                                  Field(&Cause::reason, "Ineffective"))));
}

TEST(Warnings, SayWhichValueOfTheAnnotationOfInitContainersIsNotKnown) {
    const auto annotation = [](const std::string& value) {
        return R"({"muster.dev/init-containers-env": ")" + value + R"("})";
    };
    const auto warnings_with = [](const std::vector<Edit>& edits) {
        return review(pytorch_kind(), pytorch_manifest(edits)).warnings;
    };
    const std::string on_template = kWorker + "/template/metadata/annotations";
    for (const char* known : {"true", "false"})
        for (const std::string& place : {std::string("metadata/annotations"), on_template})
            EXPECT_THAT(warnings_with({{place, annotation(known)}}), IsEmpty()) << place;
    const std::string field = "metadata.annotations[muster.dev/init-containers-env]";
    for (const char* unknown : {"", "yes", "True"}) {
        const auto is = [&](const std::string& path) {
            return AllOf(Field(&Cause::field, path), Field(&Cause::reason, "Ineffective"),
                         Field(&Cause::message, HasSubstr("\"true\"")));
        };
        EXPECT_THAT(warnings_with({{"metadata/annotations", annotation(unknown)}}),
                    ElementsAre(is(field)));
        EXPECT_THAT(warnings_with({{on_template, annotation(unknown)}}),
                    ElementsAre(is(kTemplateField + "." + field)));
    }
}

TEST(Warnings, NameVariablesOfInitContainersThatOursHide) {
    const std::vector<Edit> own = {
        {kWorker + "/template/spec/initContainers",
         R"([{"name":"i","image":"x","env":[{"name":"RANK","value":"mine"}]}])"}};
    EXPECT_THAT(review(pytorch_kind(), pytorch_manifest(own)).warnings, IsEmpty());
    std::vector<Edit> asked = own;
    asked.push_back({"metadata/annotations", R"({"muster.dev/init-containers-env": "true"})"});
    EXPECT_THAT(
        review(pytorch_kind(), pytorch_manifest(asked)).warnings,
        ElementsAre(AllOf(Field(&Cause::field, kTemplateField + ".spec.initContainers[0].env[0]"),
                          Field(&Cause::message, HasSubstr("RANK is set by the operator")))));
}

TEST(Warnings, SayNothingOfAFieldThatIsRefused) {
    const Review seen =
        review(pytorch_kind(), pytorch_manifest({{"spec/runPolicy/backoffLimit", "-1"}}));
    EXPECT_EQ(seen.problems.size(), 1u);
    EXPECT_THAT(seen.warnings, IsEmpty());
}

TEST(Warnings, AreGivenBesideProblems) {
    const Review seen =
        review(pytorch_kind(), pytorch_manifest({{"spec/pytorchReplicaSpecs/Master/replicas", "2"},
                                                 {"spec/elasticPolicy/nProcPerNode", "2"}}));
    EXPECT_EQ(seen.problems.size(), 1u);
    EXPECT_EQ(seen.warnings.size(), 1u);
}

}  // namespace
}  // namespace muster::jobs::warnings_test
