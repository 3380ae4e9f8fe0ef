#include "manifest/check.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "manifest/adjust.h"
#include "manifest/fit.h"
#include "manifest/job_lines_fixture.h"

namespace muster::manifest::check_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::vector<std::string> problems_of(std::string_view text, CheckOptions options = {}) {
    Manifest manifest = read_manifest(text, "j.yaml");
    std::vector<Problem> problems = std::move(manifest.problems);
    CheckResult checked = check_documents(std::move(manifest.documents), options);
    problems.insert(problems.end(), checked.problems.begin(), checked.problems.end());
    sort_problems(problems);
    std::vector<std::string> lines;
    for (const Problem& problem : problems) lines.push_back(format(problem));
    return lines;
}

TEST(Check, AFaultlessJobIsLoadedWithDefaults) {
    Manifest manifest = read_manifest(job_with(), "j.yaml");
    CheckResult checked = check_documents(std::move(manifest.documents), {});
    EXPECT_THAT(checked.problems, IsEmpty());
    ASSERT_THAT(checked.objects, SizeIs(1));
    EXPECT_EQ(checked.objects[0].namespace_, "default");
    EXPECT_EQ(checked.objects[0].name, "digits");
    ASSERT_TRUE(checked.objects[0].job);
    EXPECT_EQ(checked.objects[0].job->run_policy.clean_pod_policy, "None");
}

TEST(Check, AnElasticJobOfTorchElasticIsNotTakenForOneOfDLRover) {
    const std::vector<std::string> problems = problems_of(
        job_with({{"apiVersion: kubeflow.org/v1", "apiVersion: elastic.pytorch.org/v1alpha1"},
                  {"kind: PyTorchJob", "kind: ElasticJob"}}));
    EXPECT_THAT(problems,
                testing::ElementsAre(HasSubstr(
                    "ElasticJob is known in TorchElastic, but not served here yet: write it as a "
                    "PyTorchJob whose minReplicas and maxReplicas are in spec.elasticPolicy")));
}

TEST(Check, APlanOfAnElasticJobIsCheckedAtItsPlaces) {
    const auto plan = [](const std::string& spec) {
        return problems_of(
            "apiVersion: elastic.iml.github.io/v1alpha1\nkind: ScalePlan\n"
            "metadata: {name: p, labels: {elasticjob-name: j}}\nspec:\n" +
            spec);
    };
    EXPECT_THAT(plan("  replicaResourceSpecs: {ps: {replicas: 2}}\n"), IsEmpty());
    EXPECT_THAT(
        plan("  ownerJob: j\n"),
        testing::ElementsAre(HasSubstr("j.yaml:4:1: error: spec: the plan changes nothing")));
    EXPECT_THAT(
        plan("  psHosts: [a:1]\n  removePods:\n  - {type: worker}\n"),
        testing::ElementsAre(HasSubstr("error: spec.removePods[0].name: which pod is meant")));
}

/// Each kind of bad input of a job: where it is shown.
struct Row {
    std::string name;
    std::string line;
    std::string replacement;
    std::string place_and_field;
};
class BadJob : public testing::TestWithParam<Row> {};
TEST_P(BadJob, IsShownAtItsPlace) {
    const Row& row = GetParam();
    std::vector<std::string> problems = problems_of(job_with({{row.line, row.replacement}}));
    EXPECT_THAT(problems, testing::Contains(HasSubstr(row.place_and_field)))
        << testing::PrintToString(problems);
}
INSTANTIATE_TEST_SUITE_P(
    Check, BadJob,
    testing::Values(
        Row{"WrongType", "      replicas: 1", "      replicas: [one]",
            "j.yaml:7:17: error: spec.pytorchReplicaSpecs.Master.replicas: "},
        Row{"Fractional", "      replicas: 1", "      replicas: 1.5",
            "j.yaml:7:17: error: spec.pytorchReplicaSpecs.Master.replicas: "},
        Row{"Negative", "      replicas: 1", "      replicas: -1",
            "j.yaml:7:17: error: spec.pytorchReplicaSpecs.Master.replicas: "},
        Row{"APlaceholder", "      replicas: 1", "      replicas: $NUM_NODES",
            "got a string; this is a template: fill in $NUM_NODES first, for example with "
            "envsubst"},
        Row{"APlaceholderInBraces", "      replicas: 1", "      replicas: ${NUM_NODES}",
            "; this is a template: fill in ${NUM_NODES} first"},
        Row{"APlaceholderToReplace", "      replicas: 1", "      replicas: <NODES>",
            "; this is a template: fill in <NODES> first, for example with sed"},
        Row{"APlaceholderOfHelm", "      replicas: 1", "      replicas: \"{{ .Values.nodes }}\"",
            "; this is a template: fill in {{ .Values.nodes }} first, for example with helm "
            "template"},
        Row{"APlaceholderForAQuantity", "            resources: {requests: {cpu: 1}}",
            "            resources: {requests: {nvidia.com/gpu: $GPUS}}",
            "resources.requests[nvidia.com/gpu]: \"$GPUS\" is not a quantity: write a number with "
            "an optional unit, as \"2\", \"500m\" or \"16Gi\"; this is a template: fill in $GPUS "
            "first, for example with envsubst"},
        Row{"MasterNotOne", "      replicas: 1", "      replicas: 2",
            "j.yaml:7:17: error: spec.pytorchReplicaSpecs.Master.replicas: "},
        Row{"NaN", "      replicas: 1", "      replicas: .nan",
            "j.yaml:7:17: error: .nan is not a number"},
        Row{"UnknownKind", "kind: PyTorchJob", "kind: PyTorchJobs",
            "j.yaml:2:7: error: kind: the kind \"PyTorchJobs\" is not known, did you mean "
            "PyTorchJob?"},
        Row{"KindOfLater", "kind: PyTorchJob", "kind: TrainJob",
            "j.yaml:2:7: error: kind: TrainJob is known in Kubeflow, but not served here yet: put "
            "the command of its trainer into a PyTorchJob"},
        Row{"KindOfAnotherProject", "kind: PyTorchJob", "kind: ElasticJob",
            "j.yaml:1:13: error: apiVersion: ElasticJob is not served in version "
            "\"kubeflow.org/v1\"; write apiVersion: elastic.iml.github.io/v1alpha1"},
        Row{"KindForAClusterAlone", "kind: PyTorchJob", "kind: LocalQueue",
            "j.yaml:2:7: note: kind: the LocalQueue is passed over: nothing here acts on one"},
        Row{"UnknownVersion", "apiVersion: kubeflow.org/v1", "apiVersion: kubeflow.org/v2",
            "j.yaml:1:13: error: apiVersion: PyTorchJob is not served in version "
            "\"kubeflow.org/v2\"; write "
            "apiVersion: kubeflow.org/v1"},
        Row{"KindOfAnotherGroup", "apiVersion: kubeflow.org/v1",
            "apiVersion: batch.paddlepaddle.org/v1",
            "j.yaml:1:13: error: apiVersion: the PyTorchJob of batch.paddlepaddle.org is another "
            "operator's; the one that runs here has apiVersion: kubeflow.org/v1, and its fields "
            "may differ"},
        Row{"KindOfAnotherController", "kind: PyTorchJob", "kind: Deployment",
            "j.yaml:2:7: note: kind: the Deployment is passed over: it runs on 'muster up' only; "
            "for "
            "'muster run' write the template of its pods as a Pod"},
        Row{"KindOfStorage", "kind: PyTorchJob", "kind: PersistentVolumeClaim",
            "j.yaml:1:13: error: apiVersion: PersistentVolumeClaim is not served in version "
            "\"kubeflow.org/v1\"; write apiVersion: v1"},
        Row{"NoKind", "kind: PyTorchJob", "",
            "j.yaml:1:1: error: kind: missing; every object names its apiVersion and kind"},
        Row{"NoReplicaSpecs",
            "  pytorchReplicaSpecs:", "  other:", "j.yaml:4:1: error: spec.pytorchReplicaSpecs: "},
        Row{"UnknownReplicaType",
            "    Master:", "    Chief:", "j.yaml:6:5: error: spec.pytorchReplicaSpecs.Chief: "},
        Row{"WrongContainerName", "          - name: pytorch", "          - name: torch",
            "error: spec.pytorchReplicaSpecs.Master.template.spec.containers"},
        Row{"BadRestartPolicy", "      restartPolicy: OnFailure", "      restartPolicy: Sometimes",
            "j.yaml:8:22: error: spec.pytorchReplicaSpecs.Master.restartPolicy: "},
        Row{"BadQuantity", "            resources: {requests: {cpu: 1}}",
            "            resources: {requests: {cpu: 1x}}",
            "j.yaml:15:41: error: "
            "spec.pytorchReplicaSpecs.Master.template.spec.containers[0].resources.requests"},
        Row{"PortOutOfRange", "            resources: {requests: {cpu: 1}}",
            "            ports: [{containerPort: 70000}]",
            "j.yaml:15:37: error: "
            "spec.pytorchReplicaSpecs.Master.template.spec.containers[0].ports[0].containerPort"},
        Row{"MountWithoutVolume", "            resources: {requests: {cpu: 1}}",
            "            volumeMounts: [{name: data, mountPath: /data}]",
            "j.yaml:15:35: error: "
            "spec.pytorchReplicaSpecs.Master.template.spec.containers[0].volumeMounts[0].name"},
        Row{"WhatOnlyTheApiKnows", "            resources: {requests: {cpu: 1}}",
            "            ports: [{containerPort: 80, hostPort: 70000}]",
            "j.yaml:15:51: error: "
            "spec.pytorchReplicaSpecs.Master.template.spec.containers[0].ports[0].hostPort: "
            "Invalid value: 70000: must be between 1 and 65535, inclusive"},
        Row{"WhatOnlyTheApiKnowsOfThePod",
            "        spec:", "        metadata: {annotations: {a b: c}}\n        spec:",
            "j.yaml:10:33: error: spec.pytorchReplicaSpecs.Master.template.metadata.annotations: "},
        Row{"WhatOnlyTheApiKnowsOfTheSpec",
            "          containers:", "          dnsPolicy: Odd\n          containers:",
            "j.yaml:11:22: error: spec.pytorchReplicaSpecs.Master.template.spec.dnsPolicy: "},
        Row{"OfATypeInLowerCase", "    Master:",
            "    master:\n      template: {spec: {containers: [{name: pytorch, image: x, "
            "command: [t], imagePullPolicy: Maybe}]}}\n    Worker:",
            "error: spec.pytorchReplicaSpecs.master.template.spec.containers[0].imagePullPolicy: "},
        Row{"NameTooLong", "metadata: {name: digits}",
            "metadata: {name: " + std::string(63, 'a') + "}",
            "j.yaml:3:18: error: metadata.name: "},
        Row{"MinAboveMax", "spec:", "spec: &s\n  elasticPolicy: {minReplicas: 3, maxReplicas: 2}",
            "error: spec.elasticPolicy"}),
    [](const auto& test) { return test.param.name; });

TEST(Check, WhatIsOursMisspelledIsNotPassedOver) {
    const auto severity = [](const std::string& api_version, const std::string& kind) {
        const std::string text =
            job_with({{"apiVersion: kubeflow.org/v1", "apiVersion: " + api_version},
                      {"kind: PyTorchJob", "kind: " + kind}});
        const CheckResult checked = check_documents(read_manifest(text, "j.yaml").documents, {});
        EXPECT_TRUE(checked.objects.empty());
        return checked.problems.empty() ? std::string()
                                        : std::string(severity_name(checked.problems[0].severity));
    };
    EXPECT_EQ(severity("kubeflow.org/v1", "PytorchJob"), "error");
    EXPECT_EQ(severity("v1", "Sercet"), "error");
    EXPECT_EQ(severity("kubeflow.org/v1", "TrainJob"), "error");
    EXPECT_EQ(severity("kubeflow.org/v1", "Notebook"), "note");
    EXPECT_EQ(severity("batch/v1", "Job"), "note");
    EXPECT_EQ(severity("argoproj.io/v1alpha1", "Workflow"), "note");
    EXPECT_EQ(severity("", "''"), "error");
}

TEST(Check, WhatIsTakenAndWhatItDoesNotDo) {
    const auto checked = [](bool here) {
        return check_documents(
            read_manifest("apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\n"
                          "metadata: {name: closed}\nspec: {podSelector: {}}\n---\n"
                          "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: s}\n",
                          "j.yaml")
                .documents,
            {.runs_here = here});
    };
    EXPECT_EQ(checked(true).objects.size(), 2u);
    ASSERT_EQ(checked(true).problems.size(), 1u);
    EXPECT_EQ(format(checked(true).problems[0]),
              "j.yaml:2:7: note: kind: no traffic is blocked by it on one machine");
    EXPECT_TRUE(checked(false).problems.empty());
}

TEST(Check, TwoFilesMayHaveObjectsOfOneName) {
    const auto problems = [](bool apart) {
        std::vector<Document> documents = read_manifest(job_with(), "a.yaml").documents;
        documents.push_back(read_manifest(job_with(), "b.yaml").documents[0]);
        return check_documents(std::move(documents), {.files_apart = apart}).problems.size();
    };
    EXPECT_EQ(problems(false), 1u);
    EXPECT_EQ(problems(true), 0u);
}

TEST(Check, AdviceToQuoteShowsWhatIsWritten) {
    const auto advice = [](const std::string& written) {
        const std::string text = job_with(
            {{"            command: [train]", "            command: [train, " + written + "]"}});
        const CheckResult checked = check_documents(read_manifest(text, "j.yaml").documents, {});
        return checked.problems.empty() ? std::string() : checked.problems.front().message;
    };
    for (const std::string text : {"1e-3", "yes", "on", "0644", "1_000", "1.0"})
        EXPECT_THAT(advice(text), HasSubstr("(put it in quotes: \"" + text + "\")"));
}

TEST(Check, UnknownFieldsAreWarningsAndErrorsWhenStrict) {
    std::string text = job_with({{"            image: x", "            imagePulPolicy: Always"}});
    EXPECT_THAT(problems_of(text),
                testing::Contains(HasSubstr(
                    "j.yaml:13:13: warning: spec.pytorchReplicaSpecs.Master.template.spec."
                    "containers[0].imagePulPolicy: unknown field, ignored; did you mean "
                    "\"imagePullPolicy\"?")));
    EXPECT_THAT(problems_of(text, {.strict = true}),
                testing::Contains(HasSubstr("j.yaml:13:13: error: ")));
}

// Where the beta versions had them.
TEST(Check, FieldsOfTheRunPolicyThatStandInTheSpecArePointedThere) {
    for (const std::string field :
         {"backoffLimit: 3", "activeDeadlineSeconds: 3", "ttlSecondsAfterFinished: 3",
          "cleanPodPolicy: All", "suspend: true"}) {
        const std::string name = field.substr(0, field.find(':'));
        EXPECT_THAT(problems_of(job_with({{"spec:", "spec:\n  " + field}})),
                    testing::Contains(HasSubstr(
                        "warning: spec." + name +
                        ": unknown field, ignored; kubeflow.org/v1 has it in the run policy: write "
                        "spec.runPolicy." +
                        name)));
    }
}

TEST(Check, AllProblemsOfAllDocumentsAtOnce) {
    std::string bad =
        job_with({{"      replicas: 1", "      replicas: 2"},
                  {"      restartPolicy: OnFailure", "      restartPolicy: Sometimes"}});
    std::vector<std::string> problems =
        problems_of(bad + "---\nkind: Nothing\napiVersion: v1\n---\n[1]\n");
    EXPECT_THAT(
        problems,
        ElementsAre(HasSubstr("j.yaml:7:17:"), HasSubstr("j.yaml:8:22:"), HasSubstr("j.yaml:17:7:"),
                    HasSubstr("j.yaml:20:1: error: this is a list, not an object")));
}

TEST(Check, TheSameObjectTwiceIsRefused) {
    EXPECT_THAT(
        problems_of(job_with() + "---\n" + job_with()),
        ElementsAre(HasSubstr(
            "j.yaml:19:18: error: metadata.name: the PyTorchJob \"digits\" is in the manifest "
            "twice; first at j.yaml:3:18")));
}

TEST(Check, BuiltInKindsAreChecked) {
    EXPECT_THAT(problems_of("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {a: b}\n"),
                IsEmpty());
    EXPECT_THAT(problems_of("apiVersion: v1\nkind: ConfigMap\nmetadata: {}\ndata: {a: [1]}\n"),
                ElementsAre(HasSubstr("j.yaml:3:1: error: metadata.name: Required value"),
                            HasSubstr("j.yaml:4:11: error: data.a: ")));
    EXPECT_THAT(
        problems_of("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: C}\ndata: {a/b: c}\n"),
        ElementsAre(HasSubstr("j.yaml:3:18: error: metadata.name: Invalid value"),
                    HasSubstr("j.yaml:4:13: error: data[a/b]: Invalid value")));
}

// --- adjustments

struct Adjusted {
    std::vector<std::string> problems;
    json::value object;
};
Adjusted adjusted(const Adjustments& adjustments, const std::string& text = job_with()) {
    Manifest manifest = read_manifest(text, "j.yaml");
    Adjusted result;
    for (const Problem& problem : adjust(manifest.documents, adjustments))
        result.problems.push_back(format(problem));
    result.object = manifest.documents.at(0).object;
    return result;
}
Adjustments with_sets(std::vector<std::pair<std::string, std::string>> sets) {
    Adjustments adjustments;
    adjustments.sets = std::move(sets);
    return adjustments;
}

TEST(Adjust, SetsFieldsTypedAsYamlUnlessTheFieldIsText) {
    Adjusted result = adjusted(with_sets(
        {{"spec.runPolicy.backoffLimit", "3"},
         {"metadata.labels[example.com/a]", "yes"},
         {"metadata.labels.b", "'yes'"},
         {"spec.nprocPerNode", "2"},
         {"spec.runPolicy.suspend", "no"},
         {"spec.pytorchReplicaSpecs.Master.template.spec.containers[0].command", "[a, b]"}}));
    EXPECT_THAT(result.problems, IsEmpty());
    EXPECT_EQ(result.object.at_pointer("/spec/runPolicy/backoffLimit"), json::value(3));
    EXPECT_EQ(result.object.at("metadata").at("labels"),
              (json::value{{"example.com/a", "yes"}, {"b", "yes"}}));
    EXPECT_EQ(result.object.at_pointer("/spec/runPolicy/suspend"), json::value(false));
    EXPECT_EQ(result.object.at_pointer("/spec/nprocPerNode"), json::value("2"));
    EXPECT_EQ(result.object.at_pointer(
                  "/spec/pytorchReplicaSpecs/Master/template/spec/containers/0/command"),
              (json::value(json::array{"a", "b"})));
}

TEST(Adjust, RefusesPathsThatLeadNowhere) {
    EXPECT_THAT(adjusted(with_sets({{"spec..x", "1"}})).problems,
                ElementsAre(HasSubstr("--set spec..x=1: error: this is not a field path")));
    EXPECT_THAT(adjusted(with_sets({{"kind.x", "1"}})).problems,
                ElementsAre(HasSubstr("--set kind.x=1: error: kind is not a map")));
    EXPECT_THAT(
        adjusted(with_sets({{"spec.pytorchReplicaSpecs.Master.template.spec.containers[5]", "1"}}))
            .problems,
        ElementsAre(HasSubstr("is a list of 1; \"5\" is not an index of it")));
    EXPECT_THAT(adjusted(with_sets({{"spec.x", "[1"}})).problems,
                ElementsAre(HasSubstr("--set spec.x=[1: error: ")));
}

TEST(Adjust, ReplicasEnvWorkdirAndNamespace) {
    Adjustments adjustments;
    adjustments.namespace_ = "ml";
    adjustments.replicas = {{"master", "4"}};
    adjustments.env = {{"A", "1"}, {"A", "2"}};
    adjustments.workdir = "/w";
    adjustments.ignored_resources = {"cpu"};
    Adjusted result = adjusted(adjustments);
    EXPECT_THAT(result.problems, IsEmpty());
    const json::value& master = result.object.at_pointer("/spec/pytorchReplicaSpecs/Master");
    EXPECT_EQ(master.at("replicas"), json::value(4));
    EXPECT_EQ(result.object.at_pointer("/metadata/namespace"), json::value("ml"));
    const json::value& container = master.at_pointer("/template/spec/containers/0");
    EXPECT_EQ(container.at("env"),
              (json::value(json::array{json::object{{"name", "A"}, {"value", "2"}}})));
    EXPECT_EQ(container.at("workingDir"), json::value("/w"));
    EXPECT_EQ(container.at_pointer("/resources/requests"), json::value(json::object()));
}

TEST(Adjust, AnAgentTakesThePlaceOfEtcd) {
    Adjustments adjustments;
    adjustments.agent.words = {"muster", "muster-run"};
    const auto backend = [](const std::string& name) {
        return job_with() + "  elasticPolicy: {rdzvBackend: " + name +
               ", rdzvHost: etcd-service, rdzvPort: 2379, maxRestarts: 3}\n";
    };
    for (const std::string name : {"etcd", "etcd-v2"}) {
        const Adjusted result = adjusted(adjustments, backend(name));
        EXPECT_THAT(
            result.problems,
            ElementsAre(HasSubstr("warning: spec.elasticPolicy.rdzvBackend: etcd is neither")));
        EXPECT_EQ(result.object.at_pointer("/spec/elasticPolicy"),
                  (json::value{{"rdzvBackend", "c10d"}, {"maxRestarts", 3}}));
    }
    const Adjusted other = adjusted(adjustments, backend("c10d"));
    EXPECT_THAT(other.problems, IsEmpty());
    EXPECT_EQ(other.object.at_pointer("/spec/elasticPolicy/rdzvHost"), json::value("etcd-service"));
}

TEST(Adjust, FlagsThatFitNothingAreProblems) {
    Adjustments adjustments;
    adjustments.namespace_ = "ml";
    adjustments.replicas = {{"Chief", "1"}, {"Master", "-1"}};
    Adjusted result = adjusted(
        adjustments, job_with({{"metadata: {name: digits}", "metadata: {name: d, namespace: x}"}}));
    EXPECT_THAT(
        result.problems,
        ElementsAre(
            HasSubstr("j.yaml:3:32: error: metadata.namespace: the manifest says \"x\""),
            HasSubstr(
                "--replicas Chief=1: error: no job has this replica type; the manifest has Master"),
            HasSubstr("--replicas Master=-1: error: the number of replicas must be")));
}

TEST(Adjust, AProblemOfASetFieldNamesTheFlag) {
    Manifest manifest = read_manifest(job_with(), "j.yaml");
    Adjustments adjustments;
    adjustments.replicas = {{"Master", "2"}};
    EXPECT_THAT(adjust(manifest.documents, adjustments), IsEmpty());
    CheckResult checked = check_documents(std::move(manifest.documents), {});
    ASSERT_THAT(checked.problems, SizeIs(1));
    EXPECT_THAT(
        format(checked.problems[0]),
        HasSubstr("--replicas Master=2: error: spec.pytorchReplicaSpecs.Master.replicas: "));
}

TEST(Fit, ScalesWhatTogetherExceedsTheMachine) {
    Manifest manifest =
        read_manifest(job_with({{"            resources: {requests: {cpu: 1}}",
                                 "            resources: {limits: {cpu: 8, memory: 1Mi}}"}}),
                      "j.yaml");
    CheckResult checked = check_documents(std::move(manifest.documents), {});
    ASSERT_THAT(checked.objects, SizeIs(1));
    MachineSize machine{.cpus = 2, .memory_bytes = 1ULL << 30};
    FitResult strict = fit_requests(checked.objects, machine, Fit::kStrict);
    ASSERT_THAT(strict.problems, SizeIs(1));
    EXPECT_THAT(
        format(strict.problems[0]),
        HasSubstr(
            "--fit strict: error: the pods request 8 CPUs together and this machine has 2 CPUs"));
    FitResult scaled = fit_requests(checked.objects, machine, Fit::kScale);
    EXPECT_THAT(scaled.problems, IsEmpty());
    EXPECT_THAT(scaled.notices,
                ElementsAre(HasSubstr("the pods request 8 CPUs together and this machine has 2 "
                                      "CPUs: their requests are scaled to 25 %")));
    const kube::PodSpec& pod = checked.objects[0].job->replica("Master")->template_.spec;
    EXPECT_EQ(pod.containers[0].resources.requests.at("cpu"), json::value("2000m"));
    EXPECT_EQ(pod.containers[0].resources.limits.at("cpu"), json::value(8));
    EXPECT_THAT(fit_requests(checked.objects, machine, Fit::kScale).notices, IsEmpty());
}

TEST(Fit, AWorkerThatBecomesTheChiefCountsAsItIsWritten) {
    Manifest manifest = read_manifest(R"(apiVersion: elastic.iml.github.io/v1alpha1
kind: ElasticJob
metadata: {name: j}
spec:
  distributionStrategy: ParameterServerStrategy
  replicaSpecs:
    ps: &servers
      replicas: 1
      template:
        spec:
          containers:
            - {name: main, image: x, command: [x], resources: {requests: {cpu: 1}}}
    worker: *servers
)",
                                      "j.yaml");
    CheckResult checked = check_documents(std::move(manifest.documents), {});
    ASSERT_THAT(checked.objects, SizeIs(1));
    const MachineSize machine{.cpus = 1, .memory_bytes = 1ULL << 30};
    EXPECT_THAT(fit_requests(checked.objects, machine, Fit::kScale).notices,
                ElementsAre(HasSubstr("the pods request 2 CPUs together")));
}

}  // namespace
}  // namespace muster::manifest::check_test
