#include <gmock/gmock.h>

#include "apiserver/fake_extension_caller.h"
#include "apiserver_http/front_fixture.h"

// What clients see of servers behind APIServices.

namespace muster::apiserver_http::extensions_test {
namespace {

using namespace std::chrono_literals;
using apiserver::FakeExtensionCaller;
using testing::HasSubstr;
using Answer = FakeExtensionCaller::Answer;
using Asked = FakeExtensionCaller::Asked;

const std::string kWardle = "/apis/wardle.example.com/v1";
const std::string kFlunders = kWardle + "/namespaces/default/flunders";

class Extensions : public FrontFixture {
  protected:
    Extensions() : FrontFixture({.default_roles = true}) {
        server_->connect_extensions(caller_);
        caller_.answer = [](const Asked& asked) { return Result<Answer>(wardle(asked)); };
        EXPECT_EQ(post("/api/v1/namespaces/default/services",
                       R"({"metadata":{"name":"wardle"},
                           "spec":{"type":"ExternalName","externalName":"localhost"}})")
                      .status,
                  201);
        EXPECT_EQ(post("/apis/apiregistration.k8s.io/v1/apiservices",
                       R"({"metadata":{"name":"v1.wardle.example.com"},"spec":{
                "group":"wardle.example.com","version":"v1","groupPriorityMinimum":1000,
                "versionPriority":15,"insecureSkipTLSVerify":true,
                "service":{"namespace":"default","name":"wardle","port":8443}}})")
                      .status,
                  201);
        settle();
        caller_.asked.clear();
    }
    ~Extensions() override {
        await(http_.stop());
        stop();
    }

    static Answer wardle(const Asked& asked) {
        if (asked.request.target == "/openapi/v3")
            return FakeExtensionCaller::text(200, R"({"paths":{"apis/wardle.example.com/v1":{
                "serverRelativeURL":"/openapi/v3/apis/wardle.example.com/v1?hash=A"}}})");
        if (asked.request.target == kWardle)
            return FakeExtensionCaller::text(200, R"({"kind":"APIResourceList","resources":[
                {"name":"flunders","singularName":"flunder","namespaced":true,"kind":"Flunder",
                 "verbs":["get","list"]}]})",
                                             "application/json");
        return FakeExtensionCaller::text(200, "said", "application/x");
    }

    FakeExtensionCaller caller_{context.get_executor()};
};

TEST_F(Extensions, ARequestIsPassedOnWithTheUser) {
    const net::HttpResponse answer =
        send(request("PUT", kFlunders + "//x?dryRun=All", "body",
                     {{"Content-Type", "application/odd"}, {"X-Remote-User", "root"}}));
    EXPECT_EQ(answer.status, 200u);
    EXPECT_EQ(answer.body, "said");
    EXPECT_EQ(answer.headers.find("Content-Type"), "application/x");
    ASSERT_EQ(caller_.asked.size(), 1u);
    const net::HttpRequest& asked = caller_.asked[0].request;
    EXPECT_EQ(asked.method, "PUT");
    EXPECT_EQ(asked.target, kFlunders + "/x?dryRun=All");
    EXPECT_EQ(asked.body, "body");
    EXPECT_EQ(asked.headers.find("Content-Type"), "application/odd");
    EXPECT_EQ(asked.headers.find("X-Remote-User"), "muster-admin");
    EXPECT_EQ(asked.headers.count("X-Remote-User"), 1u);
    EXPECT_FALSE(asked.headers.contains("Authorization"));
    EXPECT_TRUE(caller_.asked[0].endpoint.insecure);
    EXPECT_EQ(caller_.asked[0].body_time, 60s);
}

TEST_F(Extensions, RolesSayFirstWhoMaySendIt) {
    EXPECT_EQ(verdict(as("ada", "GET", kFlunders)),
              "flunders.wardle.example.com is forbidden: User \"ada\" cannot list resource "
              "\"flunders\" in API group \"wardle.example.com\" in the namespace \"default\"");
    EXPECT_EQ(verdict(as("ada", "POST", kFlunders + "/x/status")),
              "flunders.wardle.example.com \"x\" is forbidden: User \"ada\" cannot create resource "
              "\"flunders/status\" in API group \"wardle.example.com\" in the namespace "
              "\"default\"");
    EXPECT_TRUE(caller_.asked.empty());
    post("/apis/rbac.authorization.k8s.io/v1/clusterroles",
         R"({"metadata":{"name":"f"},"rules":[{"apiGroups":["wardle.example.com"],
             "resources":["flunders"],"verbs":["list"]}]})");
    post("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
         R"({"metadata":{"name":"f"},"subjects":[{"kind":"User","name":"ada"}],
             "roleRef":{"kind":"ClusterRole","name":"f"}})");
    settle();
    caller_.asked.clear();
    EXPECT_EQ(as("ada", "GET", kFlunders).status, 200u);
    ASSERT_EQ(caller_.asked.size(), 1u);
    EXPECT_EQ(caller_.asked[0].request.headers.find("X-Remote-User"), "ada");
    EXPECT_FALSE(caller_.asked[0].request.headers.contains("Impersonate-User"));
    EXPECT_EQ(as("ada", "GET", kWardle).status, 200u) << "discovery";
}

TEST_F(Extensions, AWatchFlowsThrough) {
    caller_.answer = [](const Asked&) {
        Answer answer = FakeExtensionCaller::text(200, "{\"a\":1}\n");
        answer.pieces.emplace_back("{\"b\":2}\n");
        answer.goes_on = true;
        return Result<Answer>(answer);
    };
    const auto body = open(kFlunders + "?watch=1");
    EXPECT_EQ(lines(*body, 2), (std::vector<std::string>{"{\"a\":1}", "{\"b\":2}"}));
    EXPECT_EQ(caller_.asked.back().body_time, Duration::max());
}

TEST_F(Extensions, AnAnswerThatBreaksOffIsCutOff) {
    caller_.answer = [](const Asked&) {
        Answer answer = FakeExtensionCaller::text(200, "half");
        answer.breaks_off = true;
        return Result<Answer>(answer);
    };
    EXPECT_FALSE(await(client_.call(request("GET", kFlunders), 10s)));
    caller_.answer = [](const Asked&) {
        Answer answer = FakeExtensionCaller::text(200, "half");
        answer.head.headers.add("Content-Length", "8");
        answer.breaks_off = true;
        return Result<Answer>(answer);
    };
    const net::HttpResponse small = send(request("GET", kFlunders));
    EXPECT_EQ(small.status, 503u);
    EXPECT_EQ(small.body, "error trying to reach service: unexpected EOF\n");
}

TEST_F(Extensions, OneThatCantBeReachedIsA503) {
    caller_.answer = [](const Asked&) {
        return Result<Answer>(Error(Code::kUnavailable, "connection refused"));
    };
    const net::HttpResponse unreachable = send(request("GET", kFlunders));
    EXPECT_EQ(unreachable.status, 503u);
    EXPECT_EQ(unreachable.body, "error trying to reach service: connection refused\n");
    EXPECT_EQ(unreachable.headers.find("Content-Type"), "text/plain; charset=utf-8");
    advance(31s);
    const std::size_t asked = caller_.asked.size();
    const net::HttpResponse known = send(request("GET", kFlunders));
    EXPECT_EQ(known.status, 503u);
    EXPECT_EQ(known.body, "service unavailable\n");
    EXPECT_EQ(caller_.asked.size(), asked) << "nothing was tried";
}

TEST_F(Extensions, ARedirectIsNotPassedOn) {
    caller_.answer = [](const Asked&) {
        Answer answer = FakeExtensionCaller::text(302, "");
        answer.head.headers.add("Location", "https://evil.org/");
        return Result<Answer>(answer);
    };
    const net::HttpResponse answer = send(request("GET", kFlunders));
    EXPECT_EQ(answer.status, 502u);
    EXPECT_EQ(answer.body,
              "the backend attempted to redirect this request, which is not permitted");
    EXPECT_FALSE(answer.headers.contains("Location"));
}

TEST_F(Extensions, AStatusThatIsNoneIsA502) {
    for (const unsigned status : {100u, 199u, 600u, 999u}) {
        caller_.answer = [status](const Asked&) {
            return Result<Answer>(FakeExtensionCaller::text(status, "x"));
        };
        EXPECT_EQ(send(request("GET", kFlunders)).status, 502u) << status;
    }
    for (const unsigned status : {204u, 304u, 404u, 500u}) {
        caller_.answer = [status](const Asked&) {
            Answer answer = FakeExtensionCaller::text(status, "");
            answer.pieces.clear();
            return Result<Answer>(answer);
        };
        EXPECT_EQ(send(request("GET", kFlunders)).status, status);
    }
}

TEST_F(Extensions, DiscoveryHasTheGroup) {
    const json::value groups = parsed(get("/apis"));
    const auto has = [](const json::value& list, const char* key, std::string_view wanted) {
        return std::ranges::any_of(list.as_array(), [&](const json::value& each) {
            return each.at(key).as_string() == wanted;
        });
    };
    EXPECT_TRUE(has(groups.at("groups"), "name", "wardle.example.com"));
    EXPECT_EQ(parsed(get("/apis/wardle.example.com")).at("preferredVersion").at("groupVersion"),
              "wardle.example.com/v1");
    EXPECT_EQ(parsed(get(kWardle)).at("resources").at(0).at("name"), "flunders");
    const auto aggregated = [&] {
        const json::value document = parsed(
            get("/apis", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"));
        for (const json::value& item : document.at("items").as_array())
            if (item.at("metadata").at("name") == "wardle.example.com")
                return item.at("versions").at(0);
        return json::value();
    };
    EXPECT_EQ(aggregated(), json::parse(R"({"version":"v1","freshness":"Current","resources":[
        {"resource":"flunders","responseKind":{"group":"","version":"","kind":"Flunder"},
         "scope":"Namespaced","singularResource":"flunder","verbs":["get","list"]}]})"));
    const json::value index = parsed(get("/openapi/v3"));
    EXPECT_EQ(index.at("paths").at("apis/wardle.example.com/v1").at("serverRelativeURL"),
              "/openapi/v3/apis/wardle.example.com/v1?hash=A");
    EXPECT_EQ(get("/openapi/v3/apis/wardle.example.com/v1?hash=A").body, "said");
    EXPECT_EQ(caller_.asked.back().request.target, "/openapi/v3/apis/wardle.example.com/v1?hash=A");
    caller_.answer = [](const Asked&) { return Result<Answer>(Error(Code::kUnavailable, "gone")); };
    advance(31s);
    EXPECT_EQ(aggregated().at("freshness"), "Stale");
    EXPECT_EQ(aggregated().at("resources").as_array().size(), 1u) << "what it said last";
}

TEST_F(Extensions, RequestsToServersThatHangLeaveRoomForOthers) {
    caller_.hangs = true;
    std::vector<std::shared_ptr<std::optional<unsigned>>> answers;
    std::vector<std::unique_ptr<net::HttpClient>> clients;
    TaskGroup waiting(context.get_executor());
    const auto call = [](net::HttpClient& client, net::HttpRequest made,
                         std::shared_ptr<std::optional<unsigned>> status) -> Task<void> {
        const auto answer = co_await client.call(std::move(made), 600s);
        if (answer) *status = answer->status;
    };
    for (int i = 0; i < 51; ++i) {
        answers.push_back(std::make_shared<std::optional<unsigned>>());
        waiting.spawn("call", call(client_, request("GET", kFlunders), answers.back()));
    }
    settle();
    EXPECT_EQ(*answers.back(), 429u);
    EXPECT_FALSE(answers.front()->has_value());
    EXPECT_EQ(get(kPods).status, 200u);
    await(waiting.stop());
}

TEST_F(Extensions, AnUpgradeBecomesATunnel) {
    auto [near, far] = net::make_memory_streams(context.get_executor());
    caller_.tunnel = std::move(near);
    Result<net::HttpUpgrade> upgraded = await(client_.upgrade(
        request("GET", kFlunders + "/x/exec", "", {{"Connection", "Upgrade"}, {"Upgrade", "echo"}}),
        10s));
    ASSERT_TRUE(upgraded) << upgraded.error().message();
    ASSERT_NE(upgraded->stream, nullptr);
    EXPECT_EQ(upgraded->response.headers.find("Upgrade"), "echo");
    EXPECT_EQ(caller_.asked.back().request.headers.find("Upgrade"), "echo");
    ASSERT_TRUE(await(upgraded->stream->write(asio::buffer("ping", 4))));
    std::array<char, 16> buffer{};
    EXPECT_EQ(*await(far->read_some(asio::buffer(buffer))), 4u);
    ASSERT_TRUE(await(far->write(asio::buffer("pong", 4))));
    EXPECT_EQ(*await(upgraded->stream->read_some(asio::buffer(buffer))), 4u);
    far.reset();
    EXPECT_EQ(await(upgraded->stream->read_some(asio::buffer(buffer))).value_or(0), 0u);
}

TEST_F(Extensions, MetricsHaveNoLabelsThatClientsMakeUp) {
    get(kWardle + "/made-up-resource/name/made-up-part");
    const std::string text = get("/metrics").body;
    EXPECT_THAT(text, HasSubstr("wardle.example.com"));
    EXPECT_THAT(text, testing::Not(HasSubstr("made-up")));
}

}  // namespace
}  // namespace muster::apiserver_http::extensions_test
