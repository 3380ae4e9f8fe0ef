#include "apiserver/internal/admission/type_check.h"

#include <gmock/gmock.h>

#include <boost/json/parse.hpp>

#include "apiserver/objects/json_access.h"
#include "apiserver/registry_fixture.h"

namespace muster::apiserver::type_check_test {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class TypeCheckTest : public ::testing::Test, protected RegistryFixture {
  protected:
    static json::object spec(std::string_view rules,
                             std::string_view more = R"("validations":[])") {
        return json::parse(fmt::format(R"({{"matchConstraints":{{"resourceRules":[{}]}},{}}})",
                                       rules, more))
            .get_object();
    }
    static std::string rule(std::string_view group, std::string_view version,
                            std::string_view resources) {
        return fmt::format(R"({{"apiGroups":["{}"],"apiVersions":["{}"],"resources":[{}]}})", group,
                           version, resources);
    }
    std::vector<std::string> kinds(std::string_view rules) {
        std::vector<std::string> names;
        for (const DefPtr& def : kinds_to_check(registry_, spec(rules)))
            names.push_back(def->type.api_version() + " " + def->type.kind);
        return names;
    }
    /// "field: warning" of each.
    std::vector<std::string> warnings(const std::string& rules, std::string_view more) {
        const json::object checked = spec(rules, more);
        const DefPtr params = params_to_check(registry_, checked);
        TypeCheck check(checked, params.get());
        for (const DefPtr& def : kinds_to_check(registry_, checked)) check.check(*def);
        const json::object result = check.result();
        std::vector<std::string> all;
        for (const json::object* one : objects_at(result, "expressionWarnings"))
            all.push_back(std::string(string_at(*one, "fieldRef")) + ": " +
                          std::string(string_at(*one, "warning")));
        return all;
    }
    std::vector<std::string> of_deployments(std::string_view expression) {
        return warnings(rule("apps", "v1", R"("deployments")"),
                        fmt::format(R"("validations":[{{"expression":"{}"}}])", expression));
    }
};

TEST_F(TypeCheckTest, KindsAreThoseThatRulesNameExactly) {
    EXPECT_THAT(kinds(rule("apps", "v1", R"("statefulsets","deployments","deployments/scale")")),
                ElementsAre("apps/v1 Deployment", "apps/v1 StatefulSet"));
    EXPECT_THAT(kinds(rule("apps", "v1", R"("*")")), IsEmpty());
    EXPECT_THAT(kinds(rule("*", "v1", R"("pods")")), IsEmpty());
    EXPECT_THAT(kinds(rule("apps", "*", R"("deployments")")), IsEmpty());
    EXPECT_THAT(kinds(rule("apps", "v1", R"("nones")")), IsEmpty());
    EXPECT_THAT(kinds(rule("apps", "v1", R"("deployments")") + "," + rule("", "v1", R"("pods")")),
                ElementsAre("v1 Pod", "apps/v1 Deployment"));
}

TEST_F(TypeCheckTest, TheCoreGroupIsAnyGroupAsForTheControllerManager) {
    EXPECT_THAT(kinds(rule("", "v1", R"("events")")),
                ElementsAre("v1 Event", "events.k8s.io/v1 Event"));
}

TEST_F(TypeCheckTest, AFieldThatAKindLacksIsShown) {
    EXPECT_THAT(of_deployments("object.spec.replicas > 1"), IsEmpty());
    EXPECT_THAT(of_deployments("object.spec.none > 1"),
                ElementsAre("spec.validations[0].expression: apps/v1, Kind=Deployment: ERROR: "
                            "<input>:1:12: undefined field 'none'\n | object.spec.none > 1\n | "
                            "...........^\n"));
    EXPECT_THAT(of_deployments("object.spec.replicas > 'a'"),
                ElementsAre(HasSubstr("found no matching overload for '_>_' applied to "
                                      "'(int, string)'")));
}

TEST_F(TypeCheckTest, TypesAreThoseOfThePublishedSchemas) {
    for (const char* right :
         {"object.metadata.namespace == oldObject.metadata.namespace",
          "object.metadata.creationTimestamp < timestamp('2026-01-01T00:00:00Z')",
          "object.spec.strategy.rollingUpdate.maxSurge == 1 || "
          "object.spec.strategy.rollingUpdate.maxSurge == '1'",
          "object.metadata.labels['a'] == 'b'",
          "object.spec.template.spec.containers.all(c, c.image.startsWith('a'))",
          "authorizer.path('/a').check('get').allowed()", "request.operation == 'CREATE'"})
        EXPECT_THAT(of_deployments(right), IsEmpty()) << right;
    EXPECT_THAT(
        of_deployments("object.spec.template.spec.containers.all(c, has(c.resources.limits))"),
        ElementsAre(HasSubstr("undefined field 'limits'")));
}

TEST_F(TypeCheckTest, EachKindHasAWarningOfItsOwn) {
    const std::vector<std::string> found =
        warnings(rule("apps", "v1", R"("deployments","statefulsets")"),
                 R"("validations":[{"expression":"object.spec.none == 1",
                    "messageExpression":"object.none"}])");
    ASSERT_EQ(found.size(), 2u);
    EXPECT_THAT(found[0], HasSubstr("^\n\napps/v1, Kind=StatefulSet: ERROR"));
    EXPECT_THAT(found[1], HasSubstr("spec.validations[0].messageExpression: apps/v1, Kind=Depl"));
}

TEST_F(TypeCheckTest, VariablesHaveTheTypesOfTheirExpressions) {
    const std::string more =
        R"("variables":[{"name":"n","expression":"object.spec.replicas"},
            {"name":"s","expression":"object.spec"}],
           "validations":[{"expression":"variables.n == 'a'"},{"expression":"variables.s.none"}])";
    EXPECT_THAT(warnings(rule("apps", "v1", R"("deployments")"), more),
                ElementsAre(HasSubstr("'_==_' applied to '(int, string)'")));
}

TEST_F(TypeCheckTest, ParametersHaveATypeIfTheirKindIsServed) {
    const auto with = [&](std::string_view kind) {
        return warnings(rule("", "v1", R"("pods")"),
                        fmt::format(R"("paramKind":{{"apiVersion":"v1","kind":"{}"}},
                            "validations":[{{"expression":"params.none == 1"}}])",
                                    kind));
    };
    EXPECT_THAT(with("ConfigMap"), ElementsAre(HasSubstr("undefined field 'none'")));
    EXPECT_THAT(with("Missing"), ElementsAre(HasSubstr("undeclared reference to 'params'")));
}

TEST_F(TypeCheckTest, CustomKindsHaveWholeMetadata) {
    define("widgets", "Widget", "example.com", R"({"name":"v1","served":true,"storage":true})",
           R"({"type":"object","properties":{"spec":{"type":"object","properties":{
               "size":{"type":"integer"},"port":{"x-kubernetes-int-or-string":true}}}}})");
    const std::string widgets = rule("example.com", "v1", R"("widgets")");
    const auto of = [&](std::string_view expression) {
        return warnings(widgets,
                        fmt::format(R"("validations":[{{"expression":"{}"}}])", expression));
    };
    EXPECT_THAT(of("object.spec.size > 1 && object.spec.port == 'a' && "
                   "object.metadata.labels.a == 'b' && object.kind == 'Widget'"),
                IsEmpty());
    EXPECT_THAT(of("object.spec.none == 1"),
                ElementsAre(HasSubstr("example.com/v1, Kind=Widget: ERROR")));
}

TEST_F(TypeCheckTest, WarningsHaveABound) {
    std::string validations;
    for (int i = 0; i < 200; ++i)
        validations += fmt::format(R"({}{{"expression":"object.none == '{}'"}})", i ? "," : "",
                                   std::string(4'000, 'x'));
    const std::vector<std::string> found = warnings(
        rule("", "v1", R"("pods","services")"), fmt::format(R"("validations":[{}])", validations));
    std::size_t bytes = 0;
    for (const std::string& one : found) bytes += one.size();
    EXPECT_LT(bytes, 300u * 1024);
    EXPECT_THAT(found.back(), EndsWith("further warnings are left out"));
}

}  // namespace
}  // namespace muster::apiserver::type_check_test
