#include <gmock/gmock.h>

#include "apiserver/server_fixture.h"
#include "base/async/task_fault.h"

namespace muster::apiserver::policies_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class PoliciesTest : public ServerFixture {
  protected:
    /// A policy about ConfigMaps, bound without more.
    void add(std::string_view name, std::string_view spec, std::string_view actions = R"("Deny")",
             std::string_view bound = "") {
        const kube::Response made =
            post("/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies",
                 fmt::format(R"({{"metadata":{{"name":"{}"}},"spec":{{"matchConstraints":{{
                "resourceRules":[{{"operations":["*"],"apiGroups":[""],"apiVersions":["*"],
                "resources":["configmaps"]}}]}},{}}}}})",
                             name, spec));
        ASSERT_EQ(made.status, 201) << json::serialize(*made.body);
        const kube::Response binding =
            post("/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings",
                 fmt::format(R"({{"metadata":{{"name":"{0}"}},"spec":{{"policyName":"{0}",
                     "validationActions":[{1}]{2}}}}})",
                             name, actions, bound));
        ASSERT_EQ(binding.status, 201) << json::serialize(*binding.body);
    }
    kube::Response make(std::string_view name, std::string_view data = "{}") {
        return post("/api/v1/namespaces/default/configmaps",
                    fmt::format(R"({{"metadata":{{"name":"{}"}},"data":{}}})", name, data));
    }
    static std::string message_of(const kube::Response& response) {
        return std::string(string_at(response.body->get_object(), "message"));
    }
};

TEST_F(PoliciesTest, ADenialNamesPolicyAndBinding) {
    add("p", R"("validations":[{"expression":"object.metadata.name != 'a'","message":"not a"}])");
    EXPECT_EQ(make("b").status, 201);
    const kube::Response refused = make("a");
    EXPECT_EQ(refused.status, 422);
    EXPECT_EQ(message_of(refused),
              "configmaps \"a\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'p' "
              "denied request: not a");
}

TEST_F(PoliciesTest, AWarningLetsItPass) {
    add("p", R"("validations":[{"expression":"false","message":"hm"}])", R"("Warn")");
    const kube::Response made = make("a");
    EXPECT_EQ(made.status, 201);
    EXPECT_THAT(made.warnings, ElementsAre("Validation failed for ValidatingAdmissionPolicy 'p' "
                                           "with binding 'p': hm"));
}

TEST_F(PoliciesTest, RightsAreAskedOfTheRoles) {
    add("p", R"j("validations":[{"expression":
        "authorizer.group('').resource('pods').namespace('default').check('get').allowed() && )j"
             R"j(authorizer.requestResource.check('create').allowed()"},
        {"expression":"!authorizer.serviceAccount('default','x').path('/p').check('get').allowed()",
         "message":"an account may"}])j");
    EXPECT_EQ(make("a").status, 201);
}

/// A list of so many numbers.
std::string numbers(int count) {
    std::string list = "[0";
    for (int i = 1; i < count; ++i) list += fmt::format(",{}", i);
    return list + "]";
}

TEST_F(PoliciesTest, WhatTakesLongIsEvaluatedFromItsBeginning) {
    add("p", R"j("variables":[{"name":"l","expression":")j" + numbers(100) +
                 R"j("}],"validations":[{"expression":"variables.l.all(a, )j"
                 R"j(variables.l.all(b, a + b < 1000)) && object.metadata.name != 'a'"}])j");
    EXPECT_EQ(make("b").status, 201);
    EXPECT_THAT(message_of(make("a")), HasSubstr("failed expression"));
}

TEST_F(PoliciesTest, AnEvaluationHasALimit) {
    const std::string spec = R"j("variables":[{"name":"l","expression":")j" + numbers(200) +
                             R"j("}],"validations":[{"expression":"variables.l.all(a, )j"
                             R"j(variables.l.all(b, variables.l.all(c, a + b + c < 1000)))"}])j";
    add("p", spec);
    EXPECT_THAT(message_of(make("a")), HasSubstr("cost limit exceeded"));
    EXPECT_EQ(remove("/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/p").status,
              200);
    add("q", spec + R"(,"failurePolicy":"Ignore")");
    EXPECT_EQ(make("a").status, 201);
}

TEST_F(PoliciesTest, VariablesReferToEachOtherSoDeeplyAndNoMore) {
    const auto chain = [](int length) {
        std::string all = R"({"name":"v0","expression":"1"})";
        for (int i = 1; i <= length; ++i)
            all += fmt::format(R"(,{{"name":"v{}","expression":"variables.v{} + 1"}})", i, i - 1);
        return fmt::format(
            R"("variables":[{}],"validations":[{{"expression":"variables.v{} == {}"}}])", all,
            length, length + 1);
    };
    add("short", chain(100));
    EXPECT_EQ(make("a").status, 201);
    add("long", chain(5'000));
    EXPECT_THAT(message_of(make("b")), HasSubstr("variables refer to each other too deeply"));
}

TEST_F(PoliciesTest, FailuresFollowTheFailurePolicy) {
    add("p", R"("failurePolicy":"Ignore","validations":[{"expression":"object.none == 1"}])");
    EXPECT_EQ(make("a").status, 201);
    add("q", R"("validations":[{"expression":"object.none == 1"}])");
    EXPECT_THAT(message_of(make("b")), HasSubstr("resulted in error: no such key: none"));
}

TEST_F(PoliciesTest, APolicyWithoutParametersItNeedsDenies) {
    add("p", R"("paramKind":{"apiVersion":"v1","kind":"Secret"},
                "validations":[{"expression":"params.metadata.name == 's'"}])",
        R"("Deny")", R"(,"paramRef":{"name":"s","parameterNotFoundAction":"Deny"})");
    EXPECT_THAT(message_of(make("a")), HasSubstr("failed to configure binding: no params found"));
    post("/api/v1/namespaces/default/secrets", R"({"metadata":{"name":"s"}})");
    EXPECT_EQ(make("a").status, 201);
}

TEST_F(PoliciesTest, AWrongPolicyCanBeRemoved) {
    add("p", R"("validations":[{"expression":"false"}])");
    EXPECT_EQ(make("a").status, 422);
    EXPECT_EQ(remove("/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/p").status,
              200);
    EXPECT_EQ(make("a").status, 201);
}

TEST_F(PoliciesTest, AFaultOfTheTypeCheckIsMadeUpFor) {
    const std::string path = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/p";
    {
        const TaskFault fault("status of admission policies");
        add("p", R"("validations":[{"expression":"object.metadata.name != 'a'"}])");
        settle();
        EXPECT_EQ(fault.hits(), 1u);
    }
    EXPECT_EQ(at(get(path), "status.observedGeneration"), nullptr);
    advance(std::chrono::seconds(2));
    EXPECT_EQ(at(get(path), "status.observedGeneration"), 1);
}

}  // namespace
}  // namespace muster::apiserver::policies_test
