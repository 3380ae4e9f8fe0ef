#include <gmock/gmock.h>

#include "jobs/internal/test_kinds.h"

namespace muster::jobs::managed_by_test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* kMpiOperator = R"("kubeflow.org/mpi-operator")";

Review of(const char* version, const char* kind, Shape shape, const std::string& controller) {
    shape.edits.push_back({"spec/runPolicy/managedBy", controller});
    const JobKind& known = *find_kind(version, kind);
    json::value manifest = manifest_of(known, shape);
    // A kind without a name for its container takes any.
    for (auto& [type, replica] : manifest.at("spec").at(known.replicas_field).as_object())
        replica.at("template").at("spec").at("containers").at(0).as_object()["name"] =
            known.container_name.empty() ? "main" : known.container_name;
    return review(known, manifest);
}

TEST(ManagedBy, TheMpiOperatorIsThisOneForItsKind) {
    for (const char* version :
         {"kubeflow.org/v2beta1", "kubeflow.org/v1", "kubeflow.org/v1alpha2"}) {
        const Review seen = of(version, "MPIJob", {{{"Launcher", 1}, {"Worker", 1}}}, kMpiOperator);
        EXPECT_THAT(seen.problems, IsEmpty()) << version;
        EXPECT_THAT(seen.warnings, Not(Contains(Field(&Cause::field, "spec.runPolicy.managedBy"))));
    }
    EXPECT_THAT(of("kubeflow.org/v1", "JAXJob", {{{"Worker", 1}}}, kMpiOperator).problems,
                testing::ElementsAre(Field(&Cause::field, "spec.runPolicy.managedBy")));
}

TEST(ManagedBy, AWarningTellsThatNothingActsHere) {
    const auto about_it = Contains(AllOf(Field(&Cause::field, "spec.runPolicy.managedBy"),
                                         Field(&Cause::message, HasSubstr("nothing here acts"))));
    EXPECT_THAT(of("kubeflow.org/v1", "JAXJob", {{{"Worker", 1}}}, R"("kueue.x-k8s.io/multikueue")")
                    .warnings,
                about_it);
    EXPECT_THAT(
        of("kubeflow.org/v1", "JAXJob", {{{"Worker", 1}}}, R"("kubeflow.org/training-operator")")
            .warnings,
        Not(about_it));
}

}  // namespace
}  // namespace muster::jobs::managed_by_test
