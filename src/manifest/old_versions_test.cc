#include "manifest/old_versions.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "manifest/check.h"
#include "manifest/yaml/yaml_writer.h"

namespace muster::manifest::old_versions_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::string_view kBeta = R"(apiVersion: kubeflow.org/v1beta1
kind: TFJob
metadata: {name: digits}
spec:
  cleanPodPolicy: All
  backoffLimit: 3
  tfReplicaSpecs:
    Worker:
      replicas: 2
      template:
        spec:
          containers:
          - name: tensorflow
            image: x
)";
constexpr std::string_view kAlpha = R"(apiVersion: kubeflow.org/v1alpha1
kind: MPIJob
metadata: {name: ring}
spec:
  gpus: 2
  template:
    spec:
      containers:
      - name: mpi
        image: x
)";

std::string with(std::string_view text, const std::string& old, const std::string& now) {
    std::string changed(text);
    const std::size_t at = changed.find(old);
    EXPECT_NE(at, std::string::npos) << old;
    return changed.replace(at, old.size(), now);
}

/// As `validate` sees it.
std::vector<std::string> problems_of(std::string_view text) {
    Manifest manifest = read_manifest(text, "j.yaml");
    std::vector<Problem> problems = std::move(manifest.problems);
    read_old_versions(manifest.documents, problems);
    CheckResult checked = check_documents(std::move(manifest.documents), {});
    std::ranges::move(checked.problems, std::back_inserter(problems));
    sort_problems(problems);
    std::vector<std::string> lines;
    for (const Problem& problem : problems) lines.push_back(format(problem));
    return lines;
}

TEST(OldVersions, AreReadWithAWarningForWhatChanged) {
    EXPECT_THAT(
        problems_of(kBeta),
        ElementsAre("j.yaml:1:13: warning: apiVersion: kubeflow.org/v1beta1 is read as "
                    "kubeflow.org/v1; 'muster convert' rewrites the manifest",
                    "j.yaml:5:19: warning: spec.cleanPodPolicy: is spec.runPolicy.cleanPodPolicy "
                    "in kubeflow.org/v1",
                    "j.yaml:6:17: warning: spec.backoffLimit: is spec.runPolicy.backoffLimit in "
                    "kubeflow.org/v1"));
}

struct Row {
    std::string name;
    std::string_view text;
    std::string old;
    std::string now;
    std::string line;
};
class OldProblems : public testing::TestWithParam<Row> {};
TEST_P(OldProblems, NameTheFieldOfTheFile) {
    const Row& row = GetParam();
    EXPECT_THAT(problems_of(with(row.text, row.old, row.now)), Contains(HasSubstr(row.line)));
}
INSTANTIATE_TEST_SUITE_P(
    , OldProblems,
    testing::Values(
        Row{"AMovedField", kBeta, "backoffLimit: 3", "backoffLimit: -3",
            "j.yaml:6:17: error: spec.backoffLimit: "},
        Row{"AMovedFieldsWord", kBeta, "cleanPodPolicy: All", "cleanPodPolicy: Some",
            "j.yaml:5:19: error: spec.cleanPodPolicy: "},
        Row{"AFieldThatStays", kBeta, "replicas: 2", "replicas: two",
            "j.yaml:9:17: error: spec.tfReplicaSpecs.Worker.replicas: "},
        Row{"AnUnknownField", kBeta, "backoffLimit: 3", "backofLimit: 3",
            "j.yaml:6:3: warning: spec.backofLimit: unknown field"},
        Row{"TwoPlaces", kBeta, "backoffLimit: 3",
            "backoffLimit: 3\n  runPolicy: {backoffLimit: 4}",
            "j.yaml:6:17: error: spec.backoffLimit: spec.runPolicy.backoffLimit says something "
            "else"},
        Row{"TheTemplateOfBoth", kAlpha, "image: x",
            "image: x\n        ports: [{containerPort: 0}]",
            "j.yaml:11:33: error: spec.template.spec.containers[0].ports[0].containerPort: "},
        Row{"TheTemplatesTypo", kAlpha, "image: x", "image: x\n        comand: [x]",
            "j.yaml:11:9: warning: spec.template.spec.containers[0].comand: unknown field"},
        Row{"AComputedField", kAlpha, "gpus: 2", "gpus: 90000",
            "j.yaml:5:9: error: spec.gpus: the hostfile would not fit"},
        Row{"WhatCantBeConverted", kAlpha, "gpus: 2", "gpus: 3\n  gpusPerNode: 2",
            "j.yaml:5:9: error: spec.gpus: 3 can't be divided"},
        Row{"TheNameOfTheJob", kAlpha, "name: ring", "name: Ring",
            "j.yaml:3:18: error: metadata.name: "}),
    [](const auto& row) { return row.param.name; });

TEST(OldVersions, ThatAreConvertedCanBePosted) {
    Manifest manifest = read_manifest(kAlpha, "j.yaml");
    read_old_versions(manifest.documents, manifest.problems);
    CheckResult checked = check_documents(std::move(manifest.documents), {});
    ASSERT_THAT(checked.objects, SizeIs(1));
    EXPECT_EQ(checked.objects[0].type.version, "v1");
    EXPECT_EQ(checked.objects[0].job->total_replicas(), 3);
}

TEST(OldVersions, ThatAreWrittenAnewNeedNoWarningAboutThem) {
    for (const char* version : {"v1", "v1alpha2", "v2beta1"}) {
        Manifest manifest = read_manifest(kAlpha, "j.yaml");
        std::vector<Problem> changes;
        convert_document(manifest.documents.at(0), "mpijob", version, changes);
        for (const std::string& line : problems_of(to_yaml(manifest.documents.at(0).object)))
            EXPECT_THAT(line, HasSubstr("kubeflow.org/v1alpha2 is read as")) << version;
    }
}

std::string converted(std::string_view text, const std::string& kind, const std::string& version,
                      std::vector<std::string>& lines) {
    Manifest manifest = read_manifest(text, "j.yaml");
    std::string out;
    for (Document& document : manifest.documents) {
        convert_document(document, kind, version, manifest.problems);
        out += to_yaml(document.object);
    }
    for (const Problem& problem : manifest.problems) lines.push_back(format(problem));
    return out;
}

TEST(Convert, WritesTheVersionThatIsAskedFor) {
    std::vector<std::string> lines;
    for (const char* kind : {"", "tfjob", "TFJobs", "TFJob"})
        EXPECT_THAT(converted(kBeta, kind, "v1", lines),
                    HasSubstr("apiVersion: kubeflow.org/v1\nkind: TFJob"));
    EXPECT_THAT(converted(kBeta, "", "", lines), HasSubstr("apiVersion: kubeflow.org/v1\n"));
    EXPECT_THAT(converted(kAlpha, "mpijob", "v2beta1", lines), HasSubstr("  dialect: v1\n"));
    EXPECT_THAT(converted(kBeta, "", "v1beta1", lines),
                HasSubstr("cleanPodPolicy: All\n  backoff"));
    for (const std::string& line : lines) EXPECT_THAT(line, HasSubstr(": warning: "));
}

TEST(Convert, SaysWhichVersionsThereAre) {
    std::vector<std::string> lines;
    converted(kBeta, "tfjob", "v7", lines);
    EXPECT_THAT(lines, ElementsAre("j.yaml:1:13: error: apiVersion: TFJob has no version "
                                   "\"kubeflow.org/v7\"; there are kubeflow.org/v1, "
                                   "kubeflow.org/v1beta1, kubeflow.org/v1beta2"));
    lines.clear();
    converted(with(kBeta, "v1beta1", "v1beta9"), "", "v1", lines);
    EXPECT_THAT(lines, ElementsAre(HasSubstr("no version \"kubeflow.org/v1beta9\"")));
}

TEST(Convert, LeavesOtherObjectsAlone) {
    std::vector<std::string> lines;
    const std::string text = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\n";
    EXPECT_EQ(converted(text, "", "v1", lines), text);
    EXPECT_EQ(converted(text, "tfjob", "v1", lines), text);
    EXPECT_THAT(lines, IsEmpty());
}

}  // namespace
}  // namespace muster::manifest::old_versions_test
