#include "apiserver/internal/writing/update_rules.h"

#include <gmock/gmock.h>

#include "apiserver/objects/json_access.h"
#include "apiserver/registry_fixture.h"

namespace muster::apiserver::update_rules_test {
namespace {

using ::testing::HasSubstr;

class UpdateRulesTest : public RegistryFixture, public ::testing::Test {
  protected:
    /// What a PUT of `next` is answered: "" or what is wrong with it.
    std::string problem(const json::value& stored, const json::value& next) {
        const DefPtr def = registry_.find("apps/v1", "deployments");
        StatusResult<DecodedObject> decoded =
            decode_object(*def, kube::Document(next), kube::FieldValidation::kStrict);
        if (!decoded) return decoded.error().error.message();
        const StatusResult<NextState> decided =
            decide_update(*def, stored, std::move(*decoded), "", WriteKind::kUpdate, {});
        if (!decided) return decided.error().error.message();
        return decided->refusal ? decided->refusal->error.message() : "";
    }
};

/// A deployment of a time with fewer rules: a container has a device in part.
json::value stored_deployment() {
    return json::parse(R"({"apiVersion":"apps/v1","kind":"Deployment",
        "metadata":{"name":"d","namespace":"n","uid":"u","resourceVersion":"1","generation":1,
                    "finalizers":["a.b/c"],"deletionTimestamp":"2026-01-01T00:00:00Z"},
        "spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},
            "spec":{"containers":[{"name":"c","image":"i",
                                   "resources":{"limits":{"a.b/c":"1500m"}}}]}}}})");
}

TEST_F(UpdateRulesTest, WhatIsStoredAndWouldBeRefusedNowCanEnd) {
    json::value stored = stored_deployment();
    registry_.find("apps/v1", "deployments")->strategy.apply_defaults(stored.get_object());
    json::value next = stored;
    next.at("metadata").as_object().erase("finalizers");
    EXPECT_EQ(problem(stored, next), "");
    next.at("spec").as_object()["replicas"] = 0;
    EXPECT_THAT(problem(stored, next),
                HasSubstr("spec.template.spec.containers[0].resources.limits[a.b/c]: Invalid "
                          "value: resource.Quantity{i:resource.int64Amount{value:15, scale:-1}"));
}

}  // namespace
}  // namespace muster::apiserver::update_rules_test
