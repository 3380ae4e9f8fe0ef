#include "apiserver_http/audit.h"

#include <gmock/gmock.h>

#include "apiserver_http/front_fixture.h"

namespace muster::apiserver_http::audit_test {
namespace {

using testing::HasSubstr;
using testing::Not;

class Lines final : public AuditSink {
  public:
    void write(std::string line) override { all.push_back(std::move(line)); }
    std::vector<std::string> all;
};

class AuditTest : public FrontFixture {
  protected:
    explicit AuditTest(AuditLevel level = AuditLevel::kRequestResponse)
        : AuditTest(std::make_shared<Lines>(), level) {}

    json::object last() const { return json::parse(lines_->all.back()).as_object(); }
    std::string everything() const { return fmt::format("{}", fmt::join(lines_->all, "\n")); }

    std::shared_ptr<Lines> lines_;

  private:
    AuditTest(std::shared_ptr<Lines> lines, AuditLevel level)
        : FrontFixture(
              {.manage_fields = true, .default_roles = true},
              {.limits = {}, .audit = {.sink = lines.get(), .level = level}, .metrics = {}}),
          lines_(std::move(lines)) {
        settle();
    }
};

TEST_F(AuditTest, ARequestIsOneLineThatSaysWhoAskedForWhatAndGotWhat) {
    send(request("POST", kMaps + "?fieldManager=x", R"({"metadata":{"name":"m"}})",
                 {{"User-Agent", "me/1"}}));
    ASSERT_EQ(lines_->all.size(), 1U);
    const json::object event = last();
    EXPECT_EQ(event.at("kind"), "Event");
    EXPECT_EQ(event.at("apiVersion"), "audit.k8s.io/v1");
    EXPECT_EQ(event.at("stage"), "ResponseComplete");
    EXPECT_EQ(event.at("requestURI").as_string(), kMaps + "?fieldManager=x");
    EXPECT_EQ(event.at("verb"), "create");
    EXPECT_EQ(event.at("userAgent"), "me/1");
    EXPECT_EQ(event.at("sourceIPs"), json::array{"memory"});
    EXPECT_THAT(event.at("user").at("groups").as_array(), testing::Contains("system:masters"));
    EXPECT_EQ(event.at("objectRef"), json::parse(R"({"resource":"configmaps",
        "namespace":"default","name":"m","apiVersion":"v1"})"));
    EXPECT_EQ(event.at("responseStatus").at("code"), 201);
    EXPECT_EQ(event.at("requestObject").at("metadata").at("name"), "m");
    EXPECT_TRUE(event.at("responseObject").at("metadata").as_object().contains("uid"));
    EXPECT_EQ(event.at("annotations").at("authorization.k8s.io/decision"), "allow");
    EXPECT_TRUE(event.contains("requestReceivedTimestamp") && event.contains("stageTimestamp"));
}

TEST_F(AuditTest, PoliciesAddAnnotationsAndReplaceNone) {
    const std::string group = "/apis/admissionregistration.k8s.io/v1/";
    const char* name = "authorization.k8s.io";
    post(group + "validatingadmissionpolicies",
         fmt::format(R"j({{"metadata":{{"name":"{}"}},"spec":{{
             "matchConstraints":{{"resourceRules":[{{"operations":["CREATE"],"apiGroups":[""],
                 "apiVersions":["*"],"resources":["configmaps"]}}]}},
             "validations":[{{"expression":"false","message":"no"}}],
             "auditAnnotations":[{{"key":"decision","valueExpression":"'forbid'"}},
                 {{"key":"who","valueExpression":"object.metadata.name + '!'"}}]}}}})j",
                     name));
    post(group + "validatingadmissionpolicybindings",
         fmt::format(R"({{"metadata":{{"name":"b"}},"spec":{{"policyName":"{}",
             "validationActions":["Audit"]}}}})",
                     name));
    post(kMaps, R"({"metadata":{"name":"m"}})");
    const json::object event = last();
    EXPECT_EQ(event.at("responseStatus").at("code"), 201);
    const json::object& annotations = event.at("annotations").as_object();
    EXPECT_EQ(annotations.at("authorization.k8s.io/decision"), "allow");
    EXPECT_EQ(annotations.at("authorization.k8s.io/who"), "m!");
    const json::value failure = json::parse(
        annotations.at("validation.policy.admission.k8s.io/validation_failure").as_string());
    EXPECT_EQ(failure.at(0).at("message"), "no");
    EXPECT_EQ(failure.at(0).at("validationActions"), json::array{"Audit"});
}

TEST_F(AuditTest, ARefusalIsRecordedWithWhoWasRefused) {
    as("bob", "GET", kPods);
    const json::object event = last();
    EXPECT_EQ(event.at("impersonatedUser").at("username"), "bob");
    EXPECT_NE(event.at("user").at("username"), "bob");
    EXPECT_EQ(event.at("annotations").at("authorization.k8s.io/decision"), "forbid");
    EXPECT_EQ(event.at("responseStatus").at("reason"), "Forbidden");
    EXPECT_EQ(event.at("responseStatus").at("code"), 403);

    send(request("GET", kPods, "", {{"Authorization", "Bearer wrong"}}));
    EXPECT_EQ(last().at("user"), json::parse(R"({"username":""})"));
    EXPECT_EQ(last().at("responseStatus").at("code"), 401);
    EXPECT_THAT(everything(), Not(HasSubstr("wrong")));
}

TEST_F(AuditTest, WhatASecretHoldsIsInNoLineWhateverBecomesOfIt) {
    const std::string secrets = "/api/v1/namespaces/default/secrets";
    post(secrets, R"({"metadata":{"name":"s"},"stringData":{"p":"hush-hush"}})");
    get(secrets + "/s");
    get(secrets);
    send(request("PATCH", secrets + "/s", R"({"stringData":{"p":"hush-hush"}})",
                 {{"Content-Type", "application/merge-patch+json"}}));
    post(secrets, R"({"metadata":{"name":"t"},"data":{"p":"hush-hush"}})");
    post(secrets + "?fieldValidation=Strict", R"({"metadata":{"name":"u"},"hush-hush":1})");
    post(secrets, R"({"metadata":{"name":"v"},"data":hush-hush)");
    post(secrets, R"({"metadata":{"name":"w"},"type":5,"stringData":["hush-hush"]})");
    ASSERT_EQ(lines_->all.size(), 8U);
    EXPECT_THAT(everything(), Not(HasSubstr("hush")));
    EXPECT_THAT(everything(), Not(HasSubstr("aHVzaC1odXNo")));
    EXPECT_EQ(last().at("level"), "Metadata");
}

TEST_F(AuditTest, AWatchIsRecordedWhenItBeginsAndWhenItEnds) {
    {
        const auto watch = open(kMaps + "?watch=1");
        ASSERT_EQ(lines_->all.size(), 1U);
        EXPECT_EQ(last().at("stage"), "RequestReceived");
        EXPECT_FALSE(last().contains("responseStatus"));
    }
    settle();
    ASSERT_EQ(lines_->all.size(), 2U);
    EXPECT_EQ(last().at("stage"), "ResponseComplete");
    EXPECT_EQ(last().at("auditID"), json::parse(lines_->all.front()).at("auditID"));
    EXPECT_EQ(last().at("responseStatus").at("code"), 200);
}

class QuietAuditTest : public AuditTest {
  protected:
    QuietAuditTest() : AuditTest(AuditLevel::kMetadata) {}
};

TEST_F(QuietAuditTest, OfMetadataAloneNoBodyIsThere) {
    post(kMaps, R"({"metadata":{"name":"m"}})");
    EXPECT_FALSE(last().contains("requestObject") || last().contains("responseObject"));
    EXPECT_EQ(last().at("objectRef").at("name"), "m");
}

}  // namespace
}  // namespace muster::apiserver_http::audit_test
