#include <gmock/gmock.h>

#include <deque>

#include "apiserver/server_fixture.h"
#include "kube/values/base64.h"
#include "net/tls/signing_key.h"

namespace muster::apiserver::admission_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Webhooks by their host. An answer is made of the request that it answers.
class FakeWebhooks final : public WebhookCaller {
  public:
    using StatusResult = std::function<Result<std::string>(const json::object& request)>;

    Task<Result<std::string>> post(WebhookEndpoint endpoint, std::string body, Duration) override {
        const json::value review = json::parse(body);
        const json::object& request = review.at("request").as_object();
        asked.push_back(fmt::format("{} {} {}", endpoint.host,
                                    std::string_view(request.at("operation").as_string()),
                                    string_at(request, "name")));
        requests.push_back(request);
        pods.push_back(endpoint.pod);
        auto found = answers.find(endpoint.host);
        if (found == answers.end()) co_return Error(Code::kUnavailable, "nobody answers");
        co_return found->second(request);
    }

    std::map<std::string, StatusResult> answers;
    std::vector<std::string> asked;
    std::vector<json::object> requests;
    std::vector<std::optional<PodPort>> pods;
};

std::string review(const json::object& request, json::object response) {
    response["uid"] = request.at("uid");
    return json::serialize(json::object{{"kind", "AdmissionReview"},
                                        {"apiVersion", "admission.k8s.io/v1"},
                                        {"response", std::move(response)}});
}
FakeWebhooks::StatusResult allow() {
    return [](const json::object& request) { return review(request, {{"allowed", true}}); };
}
FakeWebhooks::StatusResult deny(std::string why) {
    return [why](const json::object& request) {
        return review(request, {{"allowed", false}, {"status", {{"message", why}, {"code", 403}}}});
    };
}
FakeWebhooks::StatusResult patch(std::string patch) {
    return [patch](const json::object& request) {
        return review(
            request,
            {{"allowed", true}, {"patchType", "JSONPatch"}, {"patch", kube::base64_encode(patch)}});
    };
}

class AdmissionTest : public ServerFixture {
  protected:
    explicit AdmissionTest(ApiServerOptions options = {}) : ServerFixture(options) {
        server_->connect_webhooks(webhooks_);
    }

    /// One webhook at https://HOST for `operations` on ConfigMaps.
    void configure(std::string_view kind, std::string_view host, std::string_view operations,
                   std::string_view more = "", std::string client = "", std::string_view group = "",
                   std::string_view resource = "configmaps") {
        if (client.empty()) client = fmt::format(R"("url":"https://{}")", host);
        const std::string plural = kind == "Mutating" ? "mutatingwebhookconfigurations"
                                                      : "validatingwebhookconfigurations";
        const kube::Response made =
            post("/apis/admissionregistration.k8s.io/v1/" + plural,
                 fmt::format(R"({{"apiVersion":"admissionregistration.k8s.io/v1",
            "kind":"{}WebhookConfiguration","metadata":{{"name":"{}"}},"webhooks":[{{
            "name":"{}.example.com","clientConfig":{{{}}},"sideEffects":"None",
            "admissionReviewVersions":["v1"],{}
            "rules":[{{"operations":[{}],"apiGroups":["{}"],"apiVersions":["v1"],
                       "resources":["{}"]}}]}}]}})",
                             kind, host, host, client, more, operations, group, resource));
        ASSERT_EQ(made.status, 201) << json::serialize(*made.body);
    }
    kube::Response make(std::string_view name, std::string_view data = "{}", Query query = {}) {
        return post("/api/v1/namespaces/default/configmaps",
                    fmt::format(R"({{"metadata":{{"name":"{}"}},"data":{}}})", name, data),
                    std::move(query));
    }
    static std::string data_of(const kube::Response& response) {
        const json::value* data = response.body->as_object().if_contains("data");
        return data == nullptr ? "" : json::serialize(*data);
    }
    static std::string message_of(const kube::Response& response) {
        return std::string(string_at(response.body->get_object(), "message"));
    }

    FakeWebhooks webhooks_;
};

TEST_F(AdmissionTest, NobodyIsAskedWithoutAConfiguration) {
    EXPECT_EQ(make("a").status, 201);
    EXPECT_THAT(webhooks_.asked, IsEmpty());
}

TEST_F(AdmissionTest, AValidatingWebhookRefuses) {
    webhooks_.answers["v"] = deny("not like this");
    configure("Validating", "v", R"("CREATE")");
    const kube::Response refused = make("a");
    EXPECT_EQ(refused.status, 403);
    EXPECT_EQ(message_of(refused),
              "admission webhook \"v.example.com\" denied the request: not like this");
    EXPECT_EQ(get("/api/v1/namespaces/default/configmaps/a").status, 404);
}

TEST_F(AdmissionTest, AServiceIsAPodThatIsReady) {
    webhooks_.answers["hook.default.svc"] = allow();
    configure("Validating", "v", R"("CREATE")", "",
              R"("service":{"namespace":"default","name":"hook","port":8443})");
    const auto refused = [&] {
        const kube::Response response = make("a");
        return response.status == 201 ? "none" : message_of(response);
    };
    const std::string failed =
        "Internal error occurred: failed calling webhook \"v.example.com\": failed to call "
        "webhook: Post \"https://hook.default.svc:8443/?timeout=10s\": ";
    EXPECT_EQ(refused(), failed + "service \"hook\" not found");
    post("/api/v1/namespaces/default/services",
         R"({"metadata":{"name":"hook"},"spec":{"selector":{"app":"hook"},
             "ports":[{"port":8443,"targetPort":9443}]}})");
    EXPECT_EQ(refused(), failed + "no endpoints available for service \"hook\"");
    post("/api/v1/namespaces/default/pods",
         R"({"metadata":{"name":"p","labels":{"app":"hook"}},
             "spec":{"containers":[{"name":"c","image":"i"}]}})");
    EXPECT_EQ(refused(), failed + "no endpoints available for service \"hook\"");
    merge_patch("/api/v1/namespaces/default/pods/p/status",
                R"({"status":{"conditions":[{"type":"Ready","status":"True"}]}})");
    EXPECT_EQ(refused(), "none");
    EXPECT_THAT(webhooks_.pods, ElementsAre(PodPort{"default", "p", 9443}));
}

TEST_F(AdmissionTest, EachOperationIsToldWithBothStates) {
    webhooks_.answers["v"] = allow();
    make("a", R"({"k":"1"})");
    configure("Validating", "v", R"("*")");
    EXPECT_EQ(make("b").status, 201);
    const std::string path = "/api/v1/namespaces/default/configmaps/a";
    EXPECT_EQ(merge_patch(path, R"({"data":{"k":"2"}})").status, 200);
    EXPECT_EQ(remove(path).status, 200);
    ASSERT_THAT(webhooks_.asked, ElementsAre("v CREATE b", "v UPDATE a", "v DELETE a"));
    EXPECT_TRUE(webhooks_.requests[0].at("oldObject").is_null());
    EXPECT_EQ(webhooks_.requests[1].at("oldObject").at("data").at("k"), "1");
    EXPECT_EQ(webhooks_.requests[1].at("object").at("data").at("k"), "2");
    EXPECT_TRUE(webhooks_.requests[2].at("object").is_null());
    EXPECT_EQ(webhooks_.requests[2].at("oldObject").at("data").at("k"), "2");
}

TEST_F(AdmissionTest, MutatingWebhooksChangeWhatIsStored) {
    webhooks_.answers["m"] = patch(R"([{"op":"add","path":"/data/added","value":"yes"}])");
    configure("Mutating", "m", R"("CREATE","UPDATE")");
    EXPECT_EQ(data_of(make("a", R"({"k":"1"})")), R"({"k":"1","added":"yes"})");
    const std::string path = "/api/v1/namespaces/default/configmaps/a";
    EXPECT_EQ(data_of(merge_patch(path, R"({"data":{"added":null,"n":"2"}})")),
              R"({"k":"1","n":"2","added":"yes"})");
    EXPECT_EQ(data_of(get(path)), R"({"k":"1","n":"2","added":"yes"})");
}

TEST_F(AdmissionTest, AnEventIsShownInTheApiThatAWebhookNames) {
    webhooks_.answers["m"] = patch(R"([{"op":"replace","path":"/note","value":"by m"}])");
    configure("Mutating", "m", R"("CREATE")", "", "", "events.k8s.io", "events");
    const kube::Response made = post("/api/v1/namespaces/default/events",
                                     R"({"metadata":{"name":"e","namespace":"default"},
        "involvedObject":{"kind":"Pod","name":"p","namespace":"default"},"reason":"R",
        "message":"m","type":"Normal","source":{"component":"c"},"count":3})");
    ASSERT_EQ(made.status, 201) << text(made);
    const json::object& request = webhooks_.requests.at(0);
    EXPECT_EQ(request.at("resource").at("group"), "events.k8s.io");
    EXPECT_EQ(request.at("requestResource").at("group"), "");
    EXPECT_EQ(request.at("object").at("apiVersion"), "events.k8s.io/v1");
    EXPECT_EQ(request.at("object").at("note"), "m");
    EXPECT_EQ(request.at("object").at("deprecatedCount"), 3);
    EXPECT_EQ(at(made, "apiVersion"), "v1");
    EXPECT_EQ(at(made, "message"), "by m");
    EXPECT_EQ(at(made, "count"), 3);
    EXPECT_EQ(at(made, "note"), nullptr);
}

TEST_F(AdmissionTest, WhatAMutatingWebhookMakesIsValidated) {
    webhooks_.answers["m"] = patch(R"([{"op":"add","path":"/data/a b","value":"x"}])");
    webhooks_.answers["v"] = allow();
    configure("Mutating", "m", R"("CREATE")");
    configure("Validating", "v", R"("CREATE")");
    const kube::Response refused = make("a", R"({"k":"v"})");
    EXPECT_EQ(refused.status, 422);
    EXPECT_THAT(message_of(refused), HasSubstr("data[a b]"));
    EXPECT_THAT(webhooks_.asked, ElementsAre("m CREATE a"));
    webhooks_.answers["m"] = patch(R"([{"op":"add","path":"/data/ok","value":"x"}])");
    EXPECT_EQ(make("b", R"({"k":"v"})").status, 201);
    EXPECT_EQ(webhooks_.requests.back().at("object").at("data").at("ok"), "x");
}

TEST_F(AdmissionTest, AWebhookIsAskedAgainWhenOthersChangedTheObject) {
    webhooks_.answers["a"] = allow();
    webhooks_.answers["b"] = patch(R"([{"op":"add","path":"/data/b","value":"1"}])");
    configure("Mutating", "a", R"("CREATE")", R"("reinvocationPolicy":"IfNeeded",)");
    configure("Mutating", "b", R"("CREATE")", R"("reinvocationPolicy":"IfNeeded",)");
    EXPECT_EQ(make("x", R"({"k":"v"})").status, 201);
    EXPECT_THAT(webhooks_.asked, ElementsAre("a CREATE x", "b CREATE x", "a CREATE x"));
}

TEST_F(AdmissionTest, AWebhookThatFailsFollowsItsPolicy) {
    configure("Validating", "gone", R"("CREATE")");
    const kube::Response failed = make("a");
    EXPECT_EQ(failed.status, 500);
    EXPECT_EQ(message_of(failed),
              "Internal error occurred: failed calling webhook \"gone.example.com\": failed to "
              "call webhook: nobody answers");
    EXPECT_EQ(
        remove("/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/gone").status,
        200)
        << "a webhook is not asked about its own removal";
    configure("Validating", "ignored", R"("CREATE")", R"("failurePolicy":"Ignore",)");
    EXPECT_EQ(make("a").status, 201);
    EXPECT_EQ(webhooks_.asked.back(), "ignored CREATE a");
}

TEST_F(AdmissionTest, NonsenseCountsAsAFailure) {
    webhooks_.answers["v"] = [](const json::object&) { return std::string("<html>"); };
    configure("Mutating", "v", R"("CREATE")");
    EXPECT_THAT(message_of(make("a")),
                HasSubstr("failed calling webhook \"v.example.com\": failed to call webhook: "));
    webhooks_.answers["v"] = [](const json::object&) { return std::string(); };
    EXPECT_THAT(message_of(make("a")), HasSubstr("couldn't get version/kind"));
    webhooks_.answers["v"] = patch(R"([{"op":"remove","path":"/data/none"}])");
    EXPECT_THAT(message_of(make("a")), HasSubstr("can't be applied"));
    webhooks_.answers["v"] = patch(" ");
    EXPECT_THAT(message_of(make("a")), HasSubstr("can't be applied: it is not JSON"));
}

TEST_F(AdmissionTest, APatchThatCantBeAppliedIsNotIgnored) {
    webhooks_.answers["v"] = patch(R"([{"op":"remove","path":"/data/none"}])");
    configure("Mutating", "v", R"("CREATE")", R"("failurePolicy":"Ignore",)");
    EXPECT_EQ(make("a").status, 500);
}

TEST_F(AdmissionTest, ADryRunAsksOnlyWhoAllowsIt) {
    webhooks_.answers["v"] = allow();
    configure("Validating", "v", R"("CREATE")");
    EXPECT_EQ(make("a", "{}", {{"dryRun", "All"}}).status, 201);
    EXPECT_EQ(webhooks_.requests.back().at("dryRun"), true);
    EXPECT_EQ(get("/api/v1/namespaces/default/configmaps/a").status, 404);
}

TEST_F(AdmissionTest, AnApplyIsAskedAboutToo) {
    webhooks_.answers["v"] = deny("frozen");
    make("a", R"({"k":"1"})");
    configure("Validating", "v", R"("UPDATE")");
    json::value object = body_of(get("/api/v1/namespaces/default/configmaps/a"));
    object.as_object()["data"] = {{"k", "2"}};
    EXPECT_EQ(put("/api/v1/namespaces/default/configmaps/a", object).status, 403);
    EXPECT_EQ(data_of(get("/api/v1/namespaces/default/configmaps/a")), R"({"k":"1"})");
}

/// What a namespace, an account and a class give a new pod, on the way through webhooks.
class PodAdmissionTest : public AdmissionTest {
  protected:
    PodAdmissionTest()
        : AdmissionTest({.manage_fields = true,
                         .priority_classes = true,
                         .signing_key = *net::SigningKey::parse(*net::make_signing_key()),
                         .root_ca_pem = "the CA"}) {
        settle();
        EXPECT_EQ(post("/api/v1/namespaces/default/limitranges",
                       R"({"metadata":{"name":"l"},"spec":{"limits":[{"type":"Container",
                           "default":{"cpu":"2"},"defaultRequest":{"cpu":"1"},
                           "max":{"cpu":"4"}}]}})")
                      .status,
                  201);
        EXPECT_EQ(post("/apis/scheduling.k8s.io/v1/priorityclasses",
                       R"({"metadata":{"name":"high"},"value":7,"preemptionPolicy":"Never"})")
                      .status,
                  201);
        EXPECT_EQ(
            post("/api/v1/namespaces/default/serviceaccounts", R"({"metadata":{"name":"robot"}})")
                .status,
            201);
    }
    kube::Response make_pod(std::string_view spec = "") {
        return post(kPods, fmt::format(R"({{"metadata":{{"generateName":"p"}},"spec":{{{}
                               "containers":[{{"name":"c","image":"i"}}]}}}})",
                                       spec));
    }
    void mutate_pods(std::string_view host, std::string changes, std::string_view more = "") {
        webhooks_.answers[std::string(host)] = changes.empty() ? allow() : patch(changes);
        configure("Mutating", host, R"("CREATE")", more, "", "", "pods");
    }
    static constexpr const char* kPods = "/api/v1/namespaces/default/pods";
    static constexpr const char* kAgain = R"("reinvocationPolicy":"IfNeeded",)";
    static constexpr const char* kSecond =
        R"({"op":"add","path":"/spec/containers/-","value":{"name":"d","image":"i"}})";
};

TEST_F(PodAdmissionTest, AMutatingWebhookSeesWhatAPodIsGiven) {
    mutate_pods("m", "");
    const kube::Response made = make_pod(R"("priorityClassName":"high",)");
    ASSERT_EQ(made.status, 201) << text(made);
    const json::object& seen = webhooks_.requests.at(0).at("object").as_object();
    const json::object& spec = seen.at("spec").as_object();
    EXPECT_EQ(json::serialize(spec.at("containers").at(0).at("resources")),
              R"({"limits":{"cpu":"2"},"requests":{"cpu":"1"}})");
    EXPECT_EQ(spec.at("priority"), 7);
    EXPECT_EQ(spec.at("preemptionPolicy"), "Never");
    EXPECT_EQ(spec.at("serviceAccountName"), "default");
    EXPECT_EQ(spec.at("volumes"), body_of(made).at("spec").at("volumes"));
    EXPECT_EQ(seen.at("metadata").at("managedFields"),
              body_of(made).at("metadata").at("managedFields"));
    EXPECT_FALSE(seen.at("metadata").as_object().contains("uid"));
    EXPECT_FALSE(seen.contains("status"));
}

TEST_F(PodAdmissionTest, WhatIsMissingIsRefusedBeforeAWebhookIsAsked) {
    mutate_pods("m", "");
    EXPECT_THAT(message_of(make_pod(R"("serviceAccountName":"none","priorityClassName":"none",)")),
                HasSubstr("error looking up service account default/none"));
    EXPECT_THAT(message_of(make_pod(R"("priorityClassName":"none",)")),
                HasSubstr("no PriorityClass with name none was found"));
    EXPECT_THAT(webhooks_.asked, IsEmpty());
}

TEST_F(PodAdmissionTest, WhatAWebhookAddsIsCompletedToo) {
    mutate_pods(
        "m", fmt::format(R"([{},{},{},{}])", kSecond, R"({"op":"remove","path":"/spec/priority"})",
                         R"({"op":"remove","path":"/spec/preemptionPolicy"})",
                         R"({"op":"add","path":"/spec/priorityClassName","value":"high"})"));
    const kube::Response made = make_pod();
    ASSERT_EQ(made.status, 201) << text(made);
    const json::object& spec = made.body->at("spec").as_object();
    const json::object& added = spec.at("containers").at(1).as_object();
    EXPECT_EQ(json::serialize(added.at("resources")),
              R"({"limits":{"cpu":"2"},"requests":{"cpu":"1"}})");
    EXPECT_EQ(added.at("volumeMounts").as_array().size(), 1u);
    EXPECT_EQ(added.at("terminationMessagePath"), "/dev/termination-log");
    EXPECT_EQ(spec.at("volumes").as_array().size(), 1u);
    EXPECT_EQ(spec.at("priority"), 7);
    EXPECT_EQ(
        string_at_path(made, "metadata.annotations"),
        R"({"kubernetes.io/limit-ranger":)"
        R"("LimitRanger plugin set: cpu request for container d; cpu limit for container d"})");
}

TEST_F(PodAdmissionTest, WhatAWebhookMakesOfAPodIsChecked) {
    mutate_pods("m", R"([{"op":"add","path":"/spec/priorityClassName","value":"high"}])");
    EXPECT_THAT(message_of(make_pod()),
                HasSubstr("the integer value of priority (0) must not be provided in pod spec"));
    webhooks_.answers["m"] =
        patch(R"([{"op":"add","path":"/spec/serviceAccountName","value":"none"}])");
    EXPECT_THAT(message_of(make_pod()), HasSubstr("error looking up service account default/none"));
    webhooks_.answers["m"] =
        patch(R"([{"op":"add","path":"/spec/containers/0/resources/limits/cpu","value":"9"}])");
    EXPECT_THAT(message_of(make_pod()),
                HasSubstr("maximum cpu usage per Container is 4, but limit is 9"));
    webhooks_.answers["m"] =
        patch(R"([{"op":"add","path":"/spec/serviceAccountName","value":"robot"}])");
    EXPECT_EQ(string_at_path(make_pod(), "spec.serviceAccount"), "robot");
}

TEST_F(PodAdmissionTest, WhatTheServerAddsIsShownOnceMore) {
    mutate_pods("a", fmt::format("[{}]", kSecond), kAgain);
    const auto first = webhooks_.answers["a"];
    webhooks_.answers["a"] = [&, first](const json::object& request) {
        return webhooks_.requests.size() == 1 ? first(request) : allow()(request);
    };
    ASSERT_EQ(make_pod().status, 201);
    ASSERT_EQ(webhooks_.requests.size(), 2u) << "its own change alone would be no reason";
    EXPECT_EQ(webhooks_.requests[1].at("object").at("spec").at("containers").at(1).at("resources"),
              webhooks_.requests[1].at("object").at("spec").at("containers").at(0).at("resources"));
}

TEST_F(PodAdmissionTest, WebhooksAreNotOwnersAndDoNotSpoilThem) {
    mutate_pods("m", R"([{"op":"add","path":"/metadata/labels","value":{"by":"m"}}])");
    const kube::Response made = make_pod();
    EXPECT_EQ(string_at_path(made, "metadata.labels.by"), "m");
    const json::value owners = at(made, "metadata.managedFields");
    ASSERT_EQ(owners.get_array().size(), 1u);
    EXPECT_FALSE(owners.at(0).at("fieldsV1").at("f:metadata").as_object().contains("f:labels"));
    webhooks_.answers["m"] =
        patch(R"([{"op":"add","path":"/metadata/managedFields","value":[{"operation":"Cut"}]}])");
    const kube::Response mended = make_pod();
    ASSERT_EQ(mended.status, 201) << text(mended);
    EXPECT_EQ(at(mended, "metadata.managedFields").get_array().size(), 1u);
    EXPECT_THAT(mended.warnings, ElementsAre(HasSubstr("invalid state after admission")));
}

struct RuleCase {
    const char* name;
    const char* from;
    const char* to;
    const char* field;
};
class WebhookRules : public AdmissionTest, public testing::WithParamInterface<RuleCase> {};

// kubernetes pkg/apis/admissionregistration/validation/validation_test.go
TEST_P(WebhookRules, WhatIsWrongIsRefusedByName) {
    std::string text = R"({"apiVersion":"admissionregistration.k8s.io/v1",
        "kind":"MutatingWebhookConfiguration","metadata":{"name":"x"},"webhooks":[{
        "name":"a.example.com","clientConfig":{"url":"https://h"},"sideEffects":"None",
        "admissionReviewVersions":["v1"],"timeoutSeconds":5,
        "rules":[{"operations":["CREATE"],"apiGroups":[""],"apiVersions":["v1"],
                  "resources":["pods"]}]}]})";
    const std::string path = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";
    const std::string_view from = GetParam().from;
    ASSERT_NE(text.find(from), text.npos);
    ASSERT_EQ(post(path, text, {{"dryRun", "All"}}).status, 201);
    text.replace(text.find(from), from.size(), GetParam().to);
    const kube::Response refused = post(path, text);
    EXPECT_EQ(refused.status, 422) << json::serialize(*refused.body);
    EXPECT_THAT(message_of(refused), HasSubstr(GetParam().field));
}

INSTANTIATE_TEST_SUITE_P(
    Cases, WebhookRules,
    testing::Values(
        RuleCase{"Name", "a.example.com", "a.b", "webhooks[0].name"},
        RuleCase{"NoClient", R"({"url":"https://h"})", "{}", "webhooks[0].clientConfig"},
        RuleCase{"BothClients", R"("url":"https://h")",
                 R"("url":"https://h","service":{"name":"a","namespace":"b"})",
                 "exactly one of url or service"},
        RuleCase{"PlainUrl", "https://h", "http://h", "clientConfig.url"},
        RuleCase{"SideEffects", R"("None")", R"("Some")", "webhooks[0].sideEffects"},
        RuleCase{"Versions", R"(["v1"],"timeout)", R"(["v9"],"timeout)",
                 "webhooks[0].admissionReviewVersions"},
        RuleCase{"Timeout", R"("timeoutSeconds":5)", R"("timeoutSeconds":31)",
                 "webhooks[0].timeoutSeconds"},
        RuleCase{"Operation", R"("CREATE")", R"("READ")", "rules[0].operations[0]"},
        RuleCase{"NoResources", R"(["pods"])", "[]", "rules[0].resources"},
        RuleCase{"AnyAndOthers", R"("apiGroups":[""])", R"("apiGroups":["*","a"])",
                 "rules[0].apiGroups"},
        RuleCase{"Selector", R"("timeoutSeconds":5)",
                 R"("objectSelector":{"matchExpressions":[{"key":"a","operator":"Like"}]})",
                 "webhooks[0].objectSelector"},
        RuleCase{"SelectorKey", R"("timeoutSeconds":5)",
                 R"("namespaceSelector":{"matchLabels":{"a b":"c"}})",
                 "webhooks[0].namespaceSelector"},
        RuleCase{
            "Cel", R"("timeoutSeconds":5)", R"("matchConditions":[{"name":"c","expression":"1"}])",
            "webhooks[0].matchConditions[0].expression: Invalid value: \"1\": must evaluate to "
            "bool but got int"}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace muster::apiserver::admission_test
