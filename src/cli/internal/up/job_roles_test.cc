#include "cli/internal/up/job_roles.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

namespace muster::cli {
namespace {

TEST(JobRoles, ViewersSeeJobsAndEditorsChangeThemButNotTheirStatus) {
    const std::vector<json::value> roles = job_roles();
    ASSERT_EQ(roles.size(), 2);
    EXPECT_EQ(roles[0].at_pointer("/metadata/labels"),
              json::parse(R"({"rbac.authorization.k8s.io/aggregate-to-view":"true"})"));
    EXPECT_EQ(roles[0].at("rules"),
              json::parse(R"([{"verbs":["get","list","watch"],"apiGroups":["kubeflow.org"],
                  "resources":["pytorchjobs","pytorchjobs/scale","pytorchjobs/status"]}])"));
    EXPECT_EQ(roles[1].at_pointer("/metadata/labels"),
              json::parse(R"({"rbac.authorization.k8s.io/aggregate-to-edit":"true"})"));
    EXPECT_EQ(roles[1].at("rules"),
              json::parse(R"([{"verbs":["create","delete","deletecollection","patch","update"],
                  "apiGroups":["kubeflow.org"],"resources":["pytorchjobs","pytorchjobs/scale"]}])"));
}

TEST(JobRoles, AreKeptUpToDateUnlessTheySayOtherwise) {
    EXPECT_TRUE(is_kept_up_to_date(json::parse(R"({"metadata":{"name":"a"}})")));
    EXPECT_TRUE(is_kept_up_to_date(json::parse(
        R"({"metadata":{"annotations":{"rbac.authorization.kubernetes.io/autoupdate":"true"}}})")));
    EXPECT_FALSE(is_kept_up_to_date(json::parse(
        R"({"metadata":{"annotations":{"rbac.authorization.kubernetes.io/autoupdate":"false"}}})")));
}

}  // namespace
}  // namespace muster::cli
