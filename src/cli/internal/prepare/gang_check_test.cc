#include "cli/internal/prepare/gang_check.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "manifest/manifest.h"

namespace muster::cli::gang_check_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> check(const std::string& text) {
    manifest::CheckResult checked =
        manifest::check_documents(manifest::read_manifest(text, "j.yaml").documents, {});
    for (const manifest::Problem& problem : checked.problems)
        EXPECT_EQ(problem.severity, manifest::Severity::kWarning) << format(problem);
    std::vector<std::string> lines;
    for (const manifest::Problem& problem : check_gangs(
             checked.objects, [](const std::string& resource) -> std::optional<kube::Quantity> {
                 if (resource == "nvidia.com/gpu") return kube::Quantity::from_units(4);
                 if (resource == "ephemeral-storage") return kube::Quantity::from_units(1000);
                 return std::nullopt;
             }))
        lines.push_back(format(problem));
    return lines;
}

/// A PyTorchJob with a Master without requests and workers that ask for `each`.
std::string job(int workers, const std::string& each, const std::string& spec = {}) {
    return fmt::format(R"(apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {{name: j}}
spec:
  pytorchReplicaSpecs:
    Master:
      template: {{spec: {{containers: [{{name: pytorch, image: x, command: [train]}}]}}}}
    Worker:
      replicas: {}
      template:
        spec:
          containers:
          - {{name: pytorch, image: x, command: [train], resources: {{limits: {{{}}}}}}}
{})",
                       workers, each, spec);
}

/// `launcher`: its limits.
std::string mpi_job(int workers, const std::string& launcher) {
    return fmt::format(R"(apiVersion: kubeflow.org/v2beta1
kind: MPIJob
metadata: {{name: ring}}
spec:
  launcherCreationPolicy: WaitForWorkersReady
  mpiReplicaSpecs:
    Launcher:
      template:
        spec:
          containers:
          - {{name: mpi, image: x, command: [mpirun], resources: {{limits: {{{}}}}}}}
    Worker:
      replicas: {}
      template:
        spec:
          containers: [{{name: mpi, image: x, resources: {{limits: {{nvidia.com/gpu: 2}}}}}}]
)",
                       launcher, workers);
}

TEST(GangCheck, WhatFitsTogetherPasses) {
    EXPECT_THAT(check(job(2, "nvidia.com/gpu: 2")), IsEmpty());
    EXPECT_THAT(check(job(0, "nvidia.com/gpu: 2")), IsEmpty());
    EXPECT_THAT(check(job(4, "ephemeral-storage: 250")), IsEmpty());
}

TEST(GangCheck, EachAloneFitsAndAllTogetherNever) {
    EXPECT_THAT(check(job(3, "nvidia.com/gpu: 2")),
                ElementsAre(AllOf(HasSubstr("j.yaml:8:"),
                                  HasSubstr("error: spec.pytorchReplicaSpecs.Worker: 4 of its "
                                            "pods start together or not at all and ask for 6 of "
                                            "\"nvidia.com/gpu\" together, of which this machine "
                                            "has 4"),
                                  HasSubstr("minAvailable"),
                                  HasSubstr("--ignore-resources nvidia.com/gpu"))));
    EXPECT_THAT(check(job(5, "ephemeral-storage: 250")),
                ElementsAre(HasSubstr("ask for 1250 of \"ephemeral-storage\"")));
}

TEST(GangCheck, OtherChecksTellOfTheseOnes) {
    EXPECT_THAT(check(job(2, "nvidia.com/gpu: 5")), IsEmpty()) << "one alone asks for too much";
    EXPECT_THAT(check(job(2, "amd.com/gpu: 5")), IsEmpty()) << "there is none of it";
    EXPECT_THAT(check(job(2, "memory: 1Ei")), IsEmpty()) << "is scaled";
}

TEST(GangCheck, AGangMayBeLessThanAll) {
    const std::string three = "  runPolicy: {schedulingPolicy: {minAvailable: 3}}\n";
    EXPECT_THAT(check(job(3, "nvidia.com/gpu: 2", three)), IsEmpty()) << "the master and two";
    EXPECT_THAT(check(job(3, "nvidia.com/gpu: 3", three)),
                ElementsAre(HasSubstr("3 of its pods start together or not at all and ask for 6")));
}

TEST(GangCheck, WhatStartsLastRunsBesideAllThatItWaitedFor) {
    EXPECT_THAT(check(mpi_job(2, "cpu: 1")), IsEmpty());
    EXPECT_THAT(check(mpi_job(2, "nvidia.com/gpu: 1")),
                ElementsAre(HasSubstr("3 of its pods have to run at the same time and ask for 5 of "
                                      "\"nvidia.com/gpu\" together")));
}

}  // namespace
}  // namespace muster::cli::gang_check_test
