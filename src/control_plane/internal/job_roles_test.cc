#include "control_plane/internal/job_roles.h"

#include <gtest/gtest.h>

#include <array>
#include <boost/json/parse.hpp>

namespace muster::control_plane::job_roles_test {
namespace {

TEST(JobRoles, ViewersSeeJobsAndEditorsChangeThemButNotTheirStatus) {
    const jobs::JobKind* scaled = jobs::find_kind("kubeflow.org/v1", "PyTorchJob");
    const jobs::JobKind* not_scaled = jobs::find_kind("kubeflow.org/v1", "TFJob");
    jobs::JobKind older = *scaled;
    older.resource.version = "v1beta2";
    const std::array<const jobs::JobKind*, 3> kinds{not_scaled, scaled, &older};
    const std::vector<json::value> roles = job_roles(kinds);
    ASSERT_EQ(roles.size(), 2);
    EXPECT_EQ(roles[0].at_pointer("/metadata/labels"),
              json::parse(R"({"rbac.authorization.k8s.io/aggregate-to-view":"true"})"));
    EXPECT_EQ(roles[0].at("rules"),
              json::parse(R"([{"verbs":["get","list","watch"],"apiGroups":["kubeflow.org"],
                  "resources":["pytorchjobs","pytorchjobs/scale","pytorchjobs/status","tfjobs","tfjobs/status"]}])"));
    EXPECT_EQ(roles[1].at_pointer("/metadata/labels"),
              json::parse(R"({"rbac.authorization.k8s.io/aggregate-to-edit":"true"})"));
    EXPECT_EQ(roles[1].at("rules"),
              json::parse(R"([{"verbs":["create","delete","deletecollection","patch","update"],
                  "apiGroups":["kubeflow.org"],
                  "resources":["pytorchjobs","pytorchjobs/scale","tfjobs"]}])"));
}

TEST(JobRoles, AreKeptUpToDateUnlessTheySayOtherwise) {
    EXPECT_TRUE(is_kept_up_to_date(json::parse(R"({"metadata":{"name":"a"}})")));
    EXPECT_TRUE(is_kept_up_to_date(json::parse(
        R"({"metadata":{"annotations":{"rbac.authorization.kubernetes.io/autoupdate":"true"}}})")));
    EXPECT_FALSE(is_kept_up_to_date(json::parse(
        R"({"metadata":{"annotations":{"rbac.authorization.kubernetes.io/autoupdate":"false"}}})")));
}

}  // namespace
}  // namespace muster::control_plane::job_roles_test
