#include "apiserver/api_server.h"

#include <gtest/gtest.h>

#include "apiserver/internal/server_fixture.h"

namespace muster::apiserver {
namespace {

class ApiServerTest : public ServerFixture {};

TEST_F(ApiServerTest, APodIsCreatedReadListedWatchedPatchedAndDeleted) {
    const kube::Response made = post("/api/v1/namespaces/default/pods", pod("a"));
    ASSERT_EQ(made.status, 201) << text(made);
    EXPECT_EQ(at(made, "status.phase"), "Pending");
    EXPECT_EQ(at(made, "spec.restartPolicy"), "Always");
    EXPECT_EQ(get("/api/v1/namespaces/default/pods/a").status, 200);
    const kube::Response list = get("/api/v1/pods");
    EXPECT_EQ(list.body->at("items").as_array().size(), 1u);

    auto watch =
        open_watch("/api/v1/namespaces/default/pods",
                   {{"resourceVersion", string_at_path(list, "metadata.resourceVersion")}});
    const kube::Response patched =
        merge_patch("/api/v1/namespaces/default/pods/a", R"({"metadata":{"labels":{"x":"y"}}})");
    ASSERT_EQ(patched.status, 200) << text(patched);
    EXPECT_EQ(remove("/api/v1/namespaces/default/pods/a").status, 200);
    EXPECT_EQ(get("/api/v1/namespaces/default/pods/a").status, 404);
    EXPECT_EQ(drain(*watch), "MODIFIED a, DELETED a");
}

}  // namespace
}  // namespace muster::apiserver
