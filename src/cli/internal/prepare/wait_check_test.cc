#include "cli/internal/prepare/wait_check.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "manifest/job_lines_fixture.h"

namespace muster::cli::wait_check_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> check(const std::string& text, const WaitOptions& options = {"here"}) {
    manifest::CheckResult checked =
        manifest::check_documents(manifest::read_manifest(text, "j.yaml").documents, {});
    for (const manifest::Problem& problem : checked.problems)
        EXPECT_EQ(problem.severity, manifest::Severity::kWarning) << format(problem);
    std::vector<std::string> lines;
    for (const manifest::Problem& problem : check_waits(checked.objects, options))
        lines.push_back(format(problem));
    return lines;
}

/// A PyTorchJob "j" of one Master whose pod has `lines`, and its container `more`.
std::string job(const std::string& lines, const std::string& more = {}) {
    return R"(apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: j, namespace: ns}
spec:
  pytorchReplicaSpecs:
    Master:
      template:
        spec:
          )" +
           lines +
           R"(
          containers:
          - name: pytorch
            image: x
            command: [train]
)" + more;
}

const std::string kNothing = "terminationGracePeriodSeconds: 1";

TEST(WaitCheck, WhatCanStartPasses) {
    EXPECT_THAT(check(job(kNothing)), IsEmpty());
    EXPECT_THAT(check(job("nodeName: here")), IsEmpty());
    EXPECT_THAT(check(job("schedulingGates: []")), IsEmpty());
}

TEST(WaitCheck, AGateAndAnotherNode) {
    EXPECT_THAT(check(job("schedulingGates: [{name: g}]")),
                ElementsAre(AllOf(HasSubstr("j.yaml:9:"), HasSubstr("error"),
                                  HasSubstr("nothing here removes a pod's scheduling gates"),
                                  HasSubstr("--wait-for-others"))));
    EXPECT_THAT(check(job("nodeName: other")),
                ElementsAre(HasSubstr("there is no node \"other\", this machine is \"here\"")));
}

TEST(WaitCheck, ATokenForAnApiThatPodsDoNotReach) {
    const std::string pod =
        job("volumes: [{name: a, emptyDir: {}}, {name: t, projected: {sources: [{downwardAPI: {}}, "
            "{serviceAccountToken: {path: token}}]}}]");
    const auto told = HasSubstr(
        ".volumes[1].projected.sources[1].serviceAccountToken: service accounts have no "
        "tokens under 'muster run'");
    EXPECT_THAT(check(pod), ElementsAre(AllOf(told, HasSubstr("error"), HasSubstr("muster up"))));
    EXPECT_THAT(check(pod, {.node = "here", .for_others = true}),
                ElementsAre(AllOf(told, HasSubstr("warning"))));
    EXPECT_THAT(check(pod, {.node = "here", .only_checks = true}),
                ElementsAre(AllOf(told, HasSubstr("warning"))));
    EXPECT_THAT(check(pod, {.node = ""}), IsEmpty());
}

TEST(WaitCheck, AnotherScheduler) {
    EXPECT_THAT(check(job("schedulerName: kai-scheduler")),
                ElementsAre(AllOf(
                    HasSubstr("j.yaml:9:"), HasSubstr("error"),
                    HasSubstr("there is no scheduler \"kai-scheduler\" here"),
                    HasSubstr("--set spec.pytorchReplicaSpecs.Master.template.spec.schedulerName="
                              "default-scheduler"))));
    EXPECT_THAT(check(job("schedulerName: default-scheduler")), IsEmpty());
    EXPECT_THAT(check(job("schedulerName: volcano"), {}), IsEmpty()) << "a cluster may have it";
    EXPECT_THAT(check(job("schedulerName: volcano"), {.node = "here", .for_others = true}),
                IsEmpty())
        << "the check of the job has warned of it";
    const std::string pod = R"(apiVersion: v1
kind: Pod
metadata: {name: p}
spec: {schedulerName: koord-scheduler, containers: [{name: c, image: x, command: [train]}]}
)";
    EXPECT_THAT(check(pod),
                ElementsAre(AllOf(HasSubstr("spec.schedulerName"), HasSubstr("error"))));
    EXPECT_THAT(check(pod, {.node = "here", .for_others = true}),
                ElementsAre(HasSubstr("warning")));
}

TEST(WaitCheck, ForThoseWhoMeanItItIsAWarning) {
    EXPECT_THAT(check(job("nodeName: other"), {.node = "here", .for_others = true}),
                ElementsAre(AllOf(HasSubstr("warning"), testing::Not(HasSubstr("forever")))));
}

TEST(WaitCheck, OnAClusterOthersAct) {
    EXPECT_THAT(check(job("nodeName: other"), {}), IsEmpty());
    EXPECT_THAT(check(job("volumes: [{name: v, configMap: {name: c}}]"), {}), IsEmpty());
}

TEST(WaitCheck, AJobThatIsSuspendedOrOfAnotherController) {
    std::string text = job(kNothing);
    text.insert(text.find("  pytorchReplicaSpecs"), "  runPolicy: {suspend: true}\n");
    EXPECT_THAT(check(text), ElementsAre(HasSubstr("the job is suspended")));
    text = job(kNothing);
    text.insert(text.find("  pytorchReplicaSpecs"),
                "  runPolicy: {managedBy: kueue.x-k8s.io/multikueue}\n");
    EXPECT_THAT(check(text), ElementsAre(HasSubstr("is to run this job, and it is not here")));
}

TEST(WaitCheck, EveryPlaceOfAConfigMapOrSecret) {
    const std::string missing = "nothing makes the ";
    for (const auto& [lines, wanted] : std::vector<std::pair<std::string, std::string>>{
             {"volumes: [{name: v, configMap: {name: c}}]", "volumes[0].configMap.name"},
             {"volumes: [{name: v, secret: {secretName: c}}]", "volumes[0].secret.secretName"},
             {"volumes: [{name: v, projected: {sources: [{secret: {name: c}}]}}]",
              "volumes[0].projected.sources[0].secret.name"}})
        EXPECT_THAT(check(job(lines)), ElementsAre(AllOf(HasSubstr(wanted), HasSubstr(missing))));
    for (const auto& [lines, wanted] : std::vector<std::pair<std::string, std::string>>{
             {"envFrom: [{configMapRef: {name: c}}]", "envFrom[0].configMapRef.name"},
             {"envFrom: [{secretRef: {name: c}}]", "envFrom[0].secretRef.name"},
             {"env: [{name: A, valueFrom: {configMapKeyRef: {name: c, key: k}}}]",
              "env[0].valueFrom.configMapKeyRef.name"},
             {"env: [{name: A, valueFrom: {secretKeyRef: {name: c, key: k}}}]",
              "env[0].valueFrom.secretKeyRef.name"}})
        EXPECT_THAT(check(job(kNothing, "            " + lines + "\n")),
                    ElementsAre(AllOf(HasSubstr(wanted), HasSubstr(missing))));
}

TEST(WaitCheck, WhatIsOptionalIsNotWaitedFor) {
    EXPECT_THAT(check(job("volumes: [{name: v, configMap: {name: c, optional: true}}]",
                          "            envFrom: [{secretRef: {name: s, optional: true}}]\n")),
                IsEmpty());
}

const std::string kMap = R"(---
apiVersion: v1
kind: ConfigMap
metadata: {name: c, namespace: ns}
data: {k: v, l: w}
)";

TEST(WaitCheck, TheManifestsOwnObjectsAndTheirKeys) {
    const auto with_key = [](const std::string& key) {
        return job("volumes: [{name: v, configMap: {name: c, items: [{key: " + key +
                       ", path: p}]}}]",
                   "            env: [{name: A, valueFrom: {configMapKeyRef: {name: c, key: " +
                       key + "}}}]\n") +
               kMap;
    };
    EXPECT_THAT(check(with_key("k")), IsEmpty());
    EXPECT_THAT(check(with_key("x")),
                ElementsAre(AllOf(HasSubstr("items[0].key"),
                                  HasSubstr("the ConfigMap \"c\" has no key \"x\"; it has k, l")),
                            HasSubstr("configMapKeyRef.key")));
}

TEST(WaitCheck, AnObjectOfAnotherNamespace) {
    std::string text = job("volumes: [{name: v, configMap: {name: c}}]") + kMap;
    text.replace(text.rfind("namespace: ns"), 13, "namespace: other");
    EXPECT_THAT(check(text),
                ElementsAre(HasSubstr("is in namespace other, where a pod of ns can't")));
}

TEST(WaitCheck, AReplicaWithoutPodsWaitsForNothing) {
    const auto workers = [](const std::string& count) {
        return job(kNothing) + "    Worker:\n      replicas: " + count +
               R"(
      template:
        spec:
          nodeName: other
          containers: [{name: pytorch, image: x, command: [train]}]
)";
    };
    EXPECT_THAT(check(workers("0")), IsEmpty());
    EXPECT_THAT(check(workers("1")), ElementsAre(HasSubstr("Worker.template.spec.nodeName")));
}

TEST(WaitCheck, WhatAJobMakesBesidePods) {
    const std::string ring = R"(apiVersion: kubeflow.org/v2beta1
kind: MPIJob
metadata: {name: ring, namespace: ns}
spec:
  mpiReplicaSpecs:
    Launcher: {template: {spec: {containers: [{name: l, image: x, command: [mpirun]}]}}}
    Worker: {replicas: 1, template: {spec: {containers: [{name: w, image: x}]}}}
---
)";
    const auto object = [](const std::string& kind, const std::string& name) {
        return fmt::format(
            "apiVersion: v1\nkind: {}\nmetadata: {{name: {}, namespace: ns}}\n{}---\n", kind, name,
            kind == "Service" ? "spec: {ports: [{port: 1}]}\n" : "");
    };
    EXPECT_THAT(check(ring + object("ConfigMap", "other") + object("Service", "ring-config")),
                IsEmpty());
    const std::string config = object("ConfigMap", "ring-config");
    for (const std::string& text : {ring + config, config + ring})
        EXPECT_THAT(check(text),
                    ElementsAre(HasSubstr("its ConfigMap would be called \"ring-config\" like the "
                                          "manifest's own, and be made only when that is gone")));
    EXPECT_THAT(check(job(kNothing) + "---\n" + object("Service", "j-master-0")),
                ElementsAre(HasSubstr("its Service would be called \"j-master-0\"")));
}

TEST(WaitCheck, TwoPodsOfOneName) {
    std::string other = job(kNothing);
    other.replace(other.find("PyTorchJob"), 10, "XGBoostJob");
    other.replace(other.find("pytorchReplicaSpecs"), 19, "xgbReplicaSpecs");
    other.replace(other.find("pytorch\n"), 8, "xgboost\n");
    const std::string both = job(kNothing) + "---\n" + other;
    const auto wanted = ElementsAre(
        AllOf(HasSubstr("metadata.name"),
              HasSubstr("its pod would be called \"j-master-0\" like one of PyTorchJob j")));
    EXPECT_THAT(check(both), wanted);
    EXPECT_THAT(check(both, {}), wanted) << "on a cluster it waits as well";
    EXPECT_THAT(
        check(job(kNothing) + R"(---
apiVersion: v1
kind: Pod
metadata: {name: j-master-0, namespace: ns}
spec: {containers: [{name: c, image: x, command: [train]}]}
)"),
        ElementsAre(HasSubstr("its pod would be called \"j-master-0\" like the manifest's own")));
    std::string elsewhere = both;
    elsewhere.replace(elsewhere.rfind("namespace: ns"), 13, "namespace: other");
    EXPECT_THAT(check(elsewhere), IsEmpty());
}

}  // namespace
}  // namespace muster::cli::wait_check_test
