#include <gmock/gmock.h>

#include "apiserver/server_fixture.h"

namespace muster::apiserver::unattended_kinds_test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kDeployments = "/apis/apps/v1/namespaces/default/deployments";
constexpr const char* kJobs = "/apis/batch/v1/namespaces/default/jobs";
constexpr const char* kScalers = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers";
constexpr const char* kOldScalers =
    "/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers";

constexpr const char* kTemplate =
    R"({"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i:1"}]}})";
constexpr const char* kOnce =
    R"({"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i:1"}]}})";

std::string object(std::string_view fields) {
    return fmt::format(R"({{"metadata":{{"name":"x"}}{}{}}})", fields.empty() ? "" : ",", fields);
}
std::string selecting(std::string_view more = "") {
    return object(fmt::format(
        R"("spec":{{"selector":{{"matchLabels":{{"a":"b"}}}},"template":{}{}}})", kTemplate, more));
}
std::string job(std::string_view more = "") {
    return object(fmt::format(R"("spec":{{"template":{}{}}})", kOnce, more));
}

class UnattendedKindsTest : public ServerFixture {
  protected:
    /// The fields of the causes of a refusal.
    static std::vector<std::string> fields_of(const kube::Response& refused) {
        std::vector<std::string> fields;
        if (const json::value causes = at(refused, "details.causes"); causes.is_array())
            for (const json::value& cause : causes.get_array())
                fields.emplace_back(cause.at("field").get_string());
        return fields;
    }
};

struct Row {
    const char* path;
    std::string body;
    const char* warning;  ///< "": none
};

TEST_F(UnattendedKindsTest, EachIsServedAndSaysThatNothingActsOnIt) {
    constexpr const char* kNoPods = "no pods are made for it";
    const Row kRows[] = {
        {kDeployments, selecting(), kNoPods},
        {"/apis/apps/v1/namespaces/default/replicasets", selecting(), kNoPods},
        {"/apis/apps/v1/namespaces/default/statefulsets", selecting(R"(,"serviceName":"s")"),
         kNoPods},
        {"/apis/apps/v1/namespaces/default/daemonsets", selecting(), kNoPods},
        {"/apis/apps/v1/namespaces/default/controllerrevisions",
         object(R"("revision":1,"data":{"any":{"thing":1}})"), ""},
        {kJobs, job(), kNoPods},
        {"/apis/batch/v1/namespaces/default/cronjobs",
         object(fmt::format(
             R"("spec":{{"schedule":"* * * * *","jobTemplate":{{"spec":{{"template":{}}}}}}})",
             kOnce)),
         "no jobs are made for it"},
        {"/api/v1/namespaces/default/replicationcontrollers",
         object(fmt::format(R"("spec":{{"template":{}}})", kTemplate)), kNoPods},
        {"/api/v1/namespaces/default/podtemplates",
         object(fmt::format(R"("template":{})", kTemplate)), ""},
        {kScalers,
         object(R"("spec":{"scaleTargetRef":{"kind":"Deployment","name":"d"},"maxReplicas":2})"),
         "nothing is scaled by it"},
        {"/api/v1/namespaces/default/endpoints",
         object(R"("subsets":[{"addresses":[{"ip":"10.0.0.9"}],"ports":[{"port":80}]}])"),
         "no traffic goes where it says"},
        {"/apis/discovery.k8s.io/v1/namespaces/default/endpointslices",
         object(R"("addressType":"IPv4","endpoints":[{"addresses":["10.0.0.9"]}])"),
         "no traffic goes where it says"},
        {"/api/v1/namespaces/default/persistentvolumeclaims",
         object(R"("spec":{"accessModes":["ReadWriteOnce"],
                  "resources":{"requests":{"storage":"1Gi"}}})"),
         "it gets no volume"},
        {"/api/v1/persistentvolumes",
         object(R"("spec":{"accessModes":["ReadWriteOnce"],"capacity":{"storage":"1Gi"},
                  "hostPath":{"path":"/d"}})"),
         "no claim is bound to it"},
        {"/apis/storage.k8s.io/v1/storageclasses", object(R"("provisioner":"p")"),
         "no volumes are made with it"},
        {"/api/v1/namespaces/default/limitranges",
         object(R"("spec":{"limits":[{"type":"Container","max":{"cpu":"1"}}]})"), ""},
        {"/apis/scheduling.k8s.io/v1/priorityclasses", object(R"("value":5)"), ""},
        {"/apis/node.k8s.io/v1/runtimeclasses", object(R"("handler":"runc")"),
         "run like all other pods"},
        {"/apis/networking.k8s.io/v1/namespaces/default/networkpolicies",
         object(R"("spec":{"podSelector":{}})"), "no traffic is blocked"},
        {"/apis/networking.k8s.io/v1/namespaces/default/ingresses",
         object(R"("spec":{"defaultBackend":{"service":{"name":"s","port":{"number":80}}}})"),
         "nothing is reached by it"},
        {"/apis/networking.k8s.io/v1/ingressclasses", object(R"("spec":{"controller":"e.org/c"})"),
         ""},
    };
    for (const Row& row : kRows) {
        const std::string item = std::string(row.path) + "/x";
        const kube::Response tried = post(row.path, row.body, {{"dryRun", "All"}});
        ASSERT_EQ(tried.status, 201) << row.path << text(tried);
        EXPECT_EQ(get(item).status, 404) << row.path;
        const kube::Response made = post(row.path, row.body, {{"fieldValidation", "Strict"}});
        ASSERT_EQ(made.status, 201) << row.path << text(made);
        EXPECT_EQ(made.warnings, tried.warnings) << row.path;
        if (*row.warning == '\0')
            EXPECT_THAT(made.warnings, IsEmpty()) << row.path;
        else
            EXPECT_THAT(made.warnings,
                        ElementsAre(AllOf(
                            HasSubstr(std::string(string_at_path(made, "apiVersion")) + " " +
                                      string_at_path(made, "kind") + " is stored"),
                            HasSubstr(row.warning), HasSubstr("unless a controller of yours"))))
                << row.path;
        const kube::Response read = get(item);
        EXPECT_EQ(text(read), text(made)) << row.path;
        EXPECT_THAT(read.warnings, IsEmpty()) << row.path;
        const kube::Response changed = merge_patch(item, R"({"metadata":{"labels":{"l":"1"}}})");
        EXPECT_EQ(changed.status, 200) << row.path << text(changed);
        EXPECT_THAT(changed.warnings, IsEmpty()) << "it was said when it was made: " << row.path;
        EXPECT_EQ(remove(item).status, 200) << row.path;
        EXPECT_EQ(get(item).status, 404) << row.path;
    }
}

TEST_F(UnattendedKindsTest, ClientsReadTheDefaultsOfARealServer) {
    struct Default {
        const char* path;
        std::string body;
        const char* field;
        const char* value;
    };
    const Default kRows[] = {
        {kDeployments, selecting(), "spec.replicas", "1"},
        {kDeployments, selecting(), "spec.strategy",
         R"({"type":"RollingUpdate","rollingUpdate":{"maxUnavailable":"25%","maxSurge":"25%"}})"},
        {kDeployments, selecting(R"(,"strategy":{"type":"Recreate"})"), "spec.strategy",
         R"({"type":"Recreate"})"},
        {kDeployments, selecting(), "spec.progressDeadlineSeconds", "600"},
        {kDeployments, selecting(), "spec.template.spec.restartPolicy", "Always"},
        {kDeployments, selecting(), "spec.template.spec.terminationGracePeriodSeconds", "30"},
        {kDeployments, selecting(), "spec.template.spec.serviceAccountName", "null"},
        {kDeployments, selecting(), "status", "{}"},
        {kDeployments, selecting(), "metadata.generation", "1"},
        {kJobs, job(), "spec.backoffLimit", "6"},
        {kJobs, job(), "spec.completions", "1"},
        {kJobs, job(R"(,"parallelism":3)"), "spec.completions", "null"},
        {kJobs, job(R"(,"completions":3)"), "spec.parallelism", "1"},
        {kJobs, job(), "spec.completionMode", "NonIndexed"},
        {kJobs, job(), "spec.suspend", "false"},
        {kJobs, job(), "spec.podReplacementPolicy", "TerminatingOrFailed"},
        {"/apis/scheduling.k8s.io/v1/priorityclasses", object(R"("value":5)"), "preemptionPolicy",
         "PreemptLowerPriority"},
        {"/api/v1/namespaces/default/replicationcontrollers",
         object(fmt::format(R"("spec":{{"template":{}}})", kTemplate)), "spec.selector",
         R"({"a":"b"})"},
        {"/api/v1/namespaces/default/limitranges",
         object(R"("spec":{"limits":[{"type":"Container","max":{"cpu":"2"},"min":{"cpu":"1"}}]})"),
         "spec.limits",
         R"([{"type":"Container","max":{"cpu":"2"},"min":{"cpu":"1"},"default":{"cpu":"2"},"defaultRequest":{"cpu":"2"}}])"},
        {"/apis/networking.k8s.io/v1/namespaces/default/networkpolicies",
         object(R"("spec":{"podSelector":{},"egress":[{"ports":[{"port":53}]}]})"),
         "spec.policyTypes", R"(["Ingress","Egress"])"},
        {kScalers,
         object(R"("spec":{"scaleTargetRef":{"kind":"Deployment","name":"d"},"maxReplicas":2})"),
         "spec.minReplicas", "1"},
    };
    for (const Default& row : kRows) {
        const kube::Response made = post(row.path, row.body, {{"dryRun", "All"}});
        ASSERT_EQ(made.status, 201) << text(made);
        EXPECT_EQ(string_at_path(made, row.field), row.value) << row.path << " " << row.field;
    }
}

TEST_F(UnattendedKindsTest, AJobSelectsItsPodsByItsUid) {
    const kube::Response made = post(kJobs, job());
    const std::string uid = string_at_path(made, "metadata.uid");
    EXPECT_EQ(
        string_at_path(made, "spec.selector"),
        fmt::format(R"({{"matchLabels":{{"batch.kubernetes.io/controller-uid":"{}"}}}})", uid));
    const json::object labels = at(made, "spec.template.metadata.labels").as_object();
    EXPECT_EQ(labels.at("controller-uid"), json::value(uid));
    EXPECT_EQ(labels.at("batch.kubernetes.io/controller-uid"), json::value(uid));
    EXPECT_EQ(labels.at("job-name"), "x");
    EXPECT_EQ(labels.at("batch.kubernetes.io/job-name"), "x");
    // Its own selector counts only where the job says so.
    const std::string own = R"(,"selector":{"matchLabels":{"a":"b"}})";
    EXPECT_EQ(post(kJobs, job(own)).status, 422);
    const std::string labelled = object(fmt::format(
        R"("spec":{{"manualSelector":true,"template":{{"metadata":{{"labels":{{"a":"b"}}}},"spec":
        {{"restartPolicy":"Never","containers":[{{"name":"c","image":"i"}}]}}}}{}}})",
        own));
    ASSERT_EQ(remove(std::string(kJobs) + "/x").status, 200);
    const kube::Response manual = post(kJobs, labelled);
    EXPECT_EQ(string_at_path(manual, "spec.selector"), R"({"matchLabels":{"a":"b"}})")
        << text(manual);
    EXPECT_EQ(string_at_path(manual, "spec.template.metadata.labels"), R"({"a":"b"})");
}

TEST_F(UnattendedKindsTest, CommonSlipsAreRefusedAsARealServerDoes) {
    struct Slip {
        const char* path;
        std::string body;
        const char* field;
    };
    const Slip kRows[] = {
        {kDeployments, object(R"("spec":{})"), "spec.template.spec.containers"},
        {kDeployments, object(""), "spec.selector"},
        {kDeployments, object(fmt::format(R"("spec":{{"template":{}}})", kTemplate)),
         "spec.selector"},
        {kDeployments,
         object(fmt::format(R"("spec":{{"selector":{{"matchLabels":{{"a":"c"}}}},"template":{}}})",
                            kTemplate)),
         "spec.template.metadata.labels"},
        {kDeployments,
         object(fmt::format(R"("spec":{{"selector":{{}},"template":{}}})", kTemplate)),
         "spec.selector"},
        {kDeployments, selecting(R"(,"replicas":-1)"), "spec.replicas"},
        {kDeployments, selecting(R"(,"strategy":{"type":"Slow"})"), "spec.strategy.type"},
        {kDeployments,
         object(R"("spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":
                  {"a":"b"}},"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]
                  }}})"),
         "spec.template.spec.restartPolicy"},
        {kJobs, object(fmt::format(R"("spec":{{"template":{}}})", kTemplate)),
         "spec.template.spec.restartPolicy"},
        {kJobs, object(R"("spec":{})"), "spec.template.spec.containers"},
        {kJobs, job(R"(,"parallelism":-1)"), "spec.parallelism"},
        {kJobs, job(R"(,"completionMode":"Indexed","parallelism":1)"), "spec.completions"},
        {"/apis/batch/v1/namespaces/default/cronjobs",
         object(fmt::format(
             R"("spec":{{"schedule":"* * *","jobTemplate":{{"spec":{{"template":{}}}}}}})", kOnce)),
         "spec.schedule"},
        {"/apis/scheduling.k8s.io/v1/priorityclasses", object(R"("value":1000000001)"), "value"},
        {"/apis/networking.k8s.io/v1/namespaces/default/ingresses", object(R"("spec":{})"), "spec"},
        {"/apis/networking.k8s.io/v1/namespaces/default/ingresses",
         object(R"("spec":{"rules":[{"http":{"paths":[{"path":"/","backend":{"service":
                  {"name":"s","port":{"number":80}}}}]}}]})"),
         "spec.rules[0].http.paths[0].pathType"},
        {kScalers, object(R"("spec":{"scaleTargetRef":{"kind":"K","name":"n"},"maxReplicas":0})"),
         "spec.maxReplicas"},
        {"/api/v1/namespaces/default/persistentvolumeclaims", object(R"("spec":{})"),
         "spec.accessModes"},
    };
    for (const Slip& row : kRows) {
        const kube::Response refused = post(row.path, row.body);
        EXPECT_EQ(refused.status, 422) << row.body << text(refused);
        EXPECT_THAT(fields_of(refused), testing::Contains(row.field)) << row.body;
        EXPECT_THAT(refused.warnings, IsEmpty());
    }
}

TEST_F(UnattendedKindsTest, WhatCanNotBeChangedStays) {
    const auto refused_field = [&](const std::string& item, const char* patch) {
        const kube::Response refused = merge_patch(item, patch);
        EXPECT_EQ(refused.status, 422) << text(refused);
        const std::vector<std::string> fields = fields_of(refused);
        return fields.empty() ? std::string() : fields.front();
    };
    ASSERT_EQ(post(kDeployments, selecting()).status, 201);
    EXPECT_EQ(refused_field(std::string(kDeployments) + "/x",
                            R"({"spec":{"selector":{"matchLabels":{"c":"d"}},"template":
                               {"metadata":{"labels":{"c":"d"}}}}})"),
              "spec.selector");
    ASSERT_EQ(post(kJobs, job()).status, 201);
    EXPECT_EQ(refused_field(std::string(kJobs) + "/x",
                            R"({"spec":{"template":{"spec":{"hostname":"h"}}}})"),
              "spec.template");
    ASSERT_EQ(post("/apis/apps/v1/namespaces/default/statefulsets", selecting()).status, 201);
    EXPECT_EQ(refused_field("/apis/apps/v1/namespaces/default/statefulsets/x",
                            R"({"spec":{"serviceName":"other"}})"),
              "spec");
    ASSERT_EQ(post("/apis/scheduling.k8s.io/v1/priorityclasses", object(R"("value":5)")).status,
              201);
    EXPECT_EQ(refused_field("/apis/scheduling.k8s.io/v1/priorityclasses/x", R"({"value":6})"),
              "value");
}

TEST_F(UnattendedKindsTest, AScaleSaysItsSelectorAsAText) {
    ASSERT_EQ(post(kDeployments, selecting(R"(,"replicas":2)")).status, 201);
    const std::string scale = std::string(kDeployments) + "/x/scale";
    const kube::Response read = get(scale);
    EXPECT_EQ(at(read, "spec.replicas"), 2) << text(read);
    EXPECT_EQ(string_at_path(read, "status.selector"), "a=b");
    ASSERT_EQ(merge_patch(scale, R"({"spec":{"replicas":5}})").status, 200);
    const kube::Response scaled = get(std::string(kDeployments) + "/x");
    EXPECT_EQ(at(scaled, "spec.replicas"), 5);
    EXPECT_EQ(at(scaled, "metadata.generation"), 2);
    const std::string controllers = "/api/v1/namespaces/default/replicationcontrollers";
    ASSERT_EQ(
        post(controllers, object(fmt::format(R"("spec":{{"template":{}}})", kTemplate))).status,
        201);
    EXPECT_EQ(string_at_path(get(controllers + "/x/scale"), "status.selector"), "a=b");
}

TEST_F(UnattendedKindsTest, AnAutoscalerIsOneObjectInTwoVersions) {
    const kube::Response old =
        post(kOldScalers, object(R"("spec":{"scaleTargetRef":{"kind":"Deployment","name":"d"},
                             "maxReplicas":4,"targetCPUUtilizationPercentage":50})"));
    ASSERT_EQ(old.status, 201) << text(old);
    EXPECT_EQ(string_at_path(old, "apiVersion"), "autoscaling/v1");
    EXPECT_EQ(at(old, "spec.targetCPUUtilizationPercentage"), 50);
    const kube::Response now = get(std::string(kScalers) + "/x");
    EXPECT_EQ(string_at_path(now, "apiVersion"), "autoscaling/v2");
    EXPECT_EQ(string_at_path(now, "spec.metrics"),
              R"([{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization",)"
              R"("averageUtilization":50}}}])");
    EXPECT_EQ(at(now, "spec.targetCPUUtilizationPercentage"), nullptr);
    EXPECT_EQ(at(get(kOldScalers), "items").as_array().size(), 1u);
}

// A client of v1 reads an object, changes what it knows and writes the whole of it.
TEST_F(UnattendedKindsTest, WhatAnOlderClientDoesNotKnowOfAnAutoscalerIsKept) {
    ASSERT_EQ(post(kScalers, object(R"("spec":{"scaleTargetRef":{"kind":"Deployment","name":"d"},
                   "maxReplicas":4,"behavior":{"scaleDown":{"stabilizationWindowSeconds":9}},
                   "metrics":[
                     {"type":"Pods","pods":{"metric":{"name":"m"},"target":{"type":"AverageValue",
                      "averageValue":"3"}}},
                     {"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization",
                      "averageUtilization":70}}}]})"))
                  .status,
              201);
    const json::value before = at(get(std::string(kScalers) + "/x"), "spec");
    kube::Response old = get(std::string(kOldScalers) + "/x");
    EXPECT_EQ(at(old, "spec.targetCPUUtilizationPercentage"), 70);
    EXPECT_EQ(at(old, "spec.metrics"), nullptr) << text(old);
    json::value changed = body_of(old);
    changed.at("spec").as_object()["targetCPUUtilizationPercentage"] = 60;
    const kube::Response written = put(std::string(kOldScalers) + "/x", changed);
    ASSERT_EQ(written.status, 200) << text(written);
    const kube::Response now = get(std::string(kScalers) + "/x");
    EXPECT_EQ(at(now, "metadata.annotations"), nullptr) << text(now);
    json::value wanted = before;
    wanted.at("metrics").at(1).at("resource").at("target").as_object()["averageUtilization"] = 60;
    EXPECT_EQ(at(now, "spec"), wanted) << text(now);
}

}  // namespace
}  // namespace muster::apiserver::unattended_kinds_test
