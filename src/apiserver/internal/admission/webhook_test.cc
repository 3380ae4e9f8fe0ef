#include "apiserver/internal/admission/webhook.h"

#include <gtest/gtest.h>

#include "apiserver/requests/json_body.h"

namespace muster::apiserver::webhook_test {
namespace {

json::object parse(std::string_view text) { return parse_json_body(text)->value->get_object(); }

struct MatchCase {
    const char* name;
    const char* webhook;  ///< its fields besides rules
    const char* rule;
    const char* wanted;  ///< as what, or empty
};

// A write of pods/v1 in namespace "ns" (labels: team=a), labels of the pod: app=x.
class WebhookMatch : public testing::TestWithParam<MatchCase> {};

TEST_P(WebhookMatch, ByRulesAndSelectors) {
    const auto& [name, fields, rule, wanted] = GetParam();
    const json::object configuration =
        parse(fmt::format(R"({{"webhooks":[{{"name":"a.b.c",{}"rules":[{}]}}]}})", fields, rule));
    const json::object pod = parse(R"({"metadata":{"name":"p","labels":{"app":"x"}}})");
    const json::object labels = parse(R"({"team":"a"})");
    const WriteToMatch write{.operation = Operation::kCreate,
                             .type = {"example.com", "v1", "things", "Thing", true},
                             .subresource = "",
                             .served_as = {{"example.com", "v1", "things", "Thing", true},
                                           {"example.com", "v2", "things", "Thing", true},
                                           {"other.com", "v1", "things", "Thing", true}},
                             .before = nullptr,
                             .after = &pod,
                             .namespace_labels = &labels};
    const std::vector<Webhook> webhooks = read_webhooks(configuration);
    ASSERT_EQ(webhooks.size(), 1u);
    const auto as = selected_as(webhooks[0].writes, write);
    EXPECT_EQ(as ? as->qualified() + "/" + as->version : "", wanted);
}

constexpr const char* kThings =
    R"({"operations":["CREATE"],"apiGroups":["example.com"],"apiVersions":["v1"],
        "resources":["things"]})";

// k8s.io/apiserver pkg/admission/plugin/webhook/predicates/rules/rules_test.go and
// generic/webhook_test.go
INSTANTIATE_TEST_SUITE_P(
    Cases, WebhookMatch,
    testing::Values(
        MatchCase{"Exactly", "", kThings, "things.example.com/v1"},
        MatchCase{"AnyOperation", "",
                  R"({"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"]})",
                  "things.example.com/v1"},
        MatchCase{"OtherOperation", "",
                  R"({"operations":["UPDATE","DELETE"],"apiGroups":["*"],"apiVersions":["*"],
                      "resources":["*"]})",
                  ""},
        MatchCase{"OtherGroup", "",
                  R"({"operations":["*"],"apiGroups":[""],"apiVersions":["*"],"resources":["*"]})",
                  ""},
        MatchCase{"OtherResource", "",
                  R"({"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],
                      "resources":["pods"]})",
                  ""},
        MatchCase{"ResourceAndEverySubresource", "",
                  R"({"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],
                      "resources":["things/*"]})",
                  "things.example.com/v1"},
        MatchCase{"OnlyASubresource", "",
                  R"({"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],
                      "resources":["things/status","*/scale"]})",
                  ""},
        MatchCase{"EquivalentVersion", "",
                  R"({"operations":["*"],"apiGroups":["example.com"],"apiVersions":["v2"],
                      "resources":["things"]})",
                  "things.example.com/v2"},
        MatchCase{"ExactVersion", R"("matchPolicy":"Exact",)",
                  R"({"operations":["*"],"apiGroups":["example.com"],"apiVersions":["v2"],
                      "resources":["things"]})",
                  ""},
        MatchCase{"EquivalentGroup", "",
                  R"({"operations":["*"],"apiGroups":["other.com"],"apiVersions":["*"],
                      "resources":["things"]})",
                  "things.other.com/v1"},
        MatchCase{"ExactGroup", R"("matchPolicy":"Exact",)",
                  R"({"operations":["*"],"apiGroups":["other.com"],"apiVersions":["*"],
                      "resources":["things"]})",
                  ""},
        MatchCase{"VersionThatIsNotServed", "",
                  R"({"operations":["*"],"apiGroups":["example.com"],"apiVersions":["v3"],
                      "resources":["things"]})",
                  ""},
        MatchCase{"ScopeNamespaced", "",
                  R"({"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"],
                      "scope":"Namespaced"})",
                  "things.example.com/v1"},
        MatchCase{"ScopeCluster", "",
                  R"({"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"],
                      "scope":"Cluster"})",
                  ""},
        MatchCase{"NamespaceSelector", R"("namespaceSelector":{"matchLabels":{"team":"a"}},)",
                  kThings, "things.example.com/v1"},
        MatchCase{"OtherNamespace",
                  R"("namespaceSelector":{"matchExpressions":[
                      {"key":"team","operator":"NotIn","values":["a","b"]}]},)",
                  kThings, ""},
        MatchCase{"ObjectSelector",
                  R"("objectSelector":{"matchExpressions":[{"key":"app","operator":"Exists"}]},)",
                  kThings, "things.example.com/v1"},
        MatchCase{"OtherObject", R"("objectSelector":{"matchLabels":{"app":"y"}},)", kThings, ""}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(Webhook, EitherStateOfTheObjectMaySelectIt) {
    const json::object configuration = parse(fmt::format(
        R"({{"webhooks":[{{"name":"a.b.c","objectSelector":{{"matchLabels":{{"on":"1"}}}},
            "rules":[{{"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],
            "resources":["*"]}}]}}]}})"));
    const json::object with = parse(R"({"metadata":{"labels":{"on":"1"}}})");
    const json::object without = parse(R"({"metadata":{}})");
    const Webhook webhook = read_webhooks(configuration).at(0);
    WriteToMatch write{.operation = Operation::kUpdate,
                       .type = {"", "v1", "pods", "Pod", true},
                       .subresource = "",
                       .served_as = {{"", "v1", "pods", "Pod", true}},
                       .before = &with,
                       .after = &without,
                       .namespace_labels = nullptr};
    EXPECT_TRUE(selected_as(webhook.writes, write));
    write.before = &without;
    EXPECT_FALSE(selected_as(webhook.writes, write));
}

TEST(Webhook, IsReadFromItsConfiguration) {
    const Webhook url = read_webhooks(parse(R"({"webhooks":[{"name":"a.b.c",
        "clientConfig":{"url":"https://10.0.0.1:8443/check","caBundle":"UEVN"},
        "failurePolicy":"Ignore","sideEffects":"None","timeoutSeconds":3,
        "reinvocationPolicy":"IfNeeded","admissionReviewVersions":["v1beta1","v1"]}]})"))
                            .at(0);
    EXPECT_EQ(url.endpoint, (WebhookEndpoint{"10.0.0.1", 8443, "/check", "PEM"}));
    EXPECT_TRUE(url.ignores_failure && url.allows_dry_run && url.reinvoked);
    EXPECT_EQ(url.time_limit, std::chrono::seconds(3));
    EXPECT_EQ(url.review_version, "v1");
    const Webhook service = read_webhooks(parse(R"({"webhooks":[{"name":"a.b.c",
        "clientConfig":{"service":{"name":"hook","namespace":"sys","path":"x","port":8}},
        "sideEffects":"Some","admissionReviewVersions":["v1beta1"]}]})"))
                                .at(0);
    EXPECT_EQ(service.endpoint,
              (WebhookEndpoint{"hook.sys.svc", 8, "/x", "", ServiceName{"sys", "hook"}}));
    EXPECT_FALSE(service.ignores_failure || service.allows_dry_run || service.reinvoked);
    EXPECT_EQ(service.time_limit, std::chrono::seconds(10));
    EXPECT_EQ(service.review_version, "v1beta1");
}

}  // namespace
}  // namespace muster::apiserver::webhook_test
