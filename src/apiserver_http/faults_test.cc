#include <fmt/format.h>
#include <gmock/gmock.h>

#include "apiserver_http/front_fixture.h"
#include "apiserver_http/metric_family.h"
#include "base/log.h"

// What clients see of internal faults, and that deep values and odd bytes cause none.

namespace muster::apiserver_http::faults_test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kYaml = "application/yaml";
constexpr std::string_view kWord = "throw at this";

/// Writes JSON, which is also YAML; throws where a test wants it to.
std::string write_yaml(const json::value& value) {
    std::string text = json::serialize(value);
    if (text.find(kWord) != std::string::npos) throw std::runtime_error("a writer's fault");
    return text;
}

class FaultySink final : public AuditSink {
  public:
    void write(std::string line) override {
        if (faulty) throw std::runtime_error("a sink's fault");
        lines.push_back(std::move(line));
    }
    bool faulty = false;
    std::vector<std::string> lines;
};

std::vector<prometheus::MetricFamily> no_metrics() { throw std::runtime_error("a metric's fault"); }

class Faults : public FrontFixture {
  protected:
    Faults() : Faults(std::make_shared<FaultySink>()) {}
    ~Faults() override { log::set_sink({}); }

    /// `depth` objects, one within the other.
    static std::string nested(int depth) {
        std::string text;
        for (int i = 0; i < depth; ++i) text += R"({"a":)";
        return text + "1" + std::string(static_cast<std::size_t>(depth), '}');
    }
    net::HttpResponse as_yaml(std::string method, std::string target, std::string body = "") {
        return send(request(std::move(method), std::move(target), std::move(body),
                            {{"Accept", kYaml}, {"Content-Type", "application/json"}}));
    }

    std::shared_ptr<FaultySink> sink_;
    std::vector<std::string> logged_;

  private:
    explicit Faults(std::shared_ptr<FaultySink> sink)
        : FrontFixture({.manage_fields = true},
                       {.audit = {.sink = sink.get(), .level = AuditLevel::kMetadata},
                        .yaml = {.read = nullptr, .write = write_yaml},
                        .metrics = {std::make_shared<CollectedNow>(no_metrics)}}),
          sink_(std::move(sink)) {
        log::set_sink([this](log::Level level, std::string_view line) {
            if (level >= log::Level::kError) logged_.emplace_back(line);
        });
    }
};

TEST_F(Faults, AnswersInYamlAreAsDeepAsTheirObjects) {
    const std::string crd =
        R"({"metadata":{"name":"deeps.a.io"},"spec":{"group":"a.io","scope":"Namespaced",
        "names":{"plural":"deeps","kind":"Deep"},"versions":[{"name":"v1","served":true,
        "storage":true,"schema":{"openAPIV3Schema":{"type":"object",
        "x-kubernetes-preserve-unknown-fields":true}}}]}})";
    EXPECT_EQ(
        as_yaml("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd).status,
        201);
    settle();
    const std::string deeps = "/apis/a.io/v1/namespaces/default/deeps";
    const std::string deep =
        R"({"apiVersion":"a.io/v1","kind":"Deep","metadata":{"name":"d"},"x":)" + nested(100) + "}";
    EXPECT_EQ(as_yaml("POST", deeps, deep).status, 201);
    for (const std::string& target : {deeps, deeps + "/d"}) {
        const net::HttpResponse answer = as_yaml("GET", target);
        EXPECT_EQ(answer.status, 200) << target;
        EXPECT_EQ(answer.headers.find("Content-Type"), kYaml);
        EXPECT_THAT(answer.body, HasSubstr(nested(100))) << target;
    }
    EXPECT_EQ(as_yaml("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
                      R"({"spec":{"nonResourceAttributes":{"path":"/","verb":"get"},"x":)" +
                          nested(150) + "}}")
                  .status,
              201);
    EXPECT_EQ(logged_, std::vector<std::string>());
}

TEST_F(Faults, WhatDescribesTheServerIsTheSameInYaml) {
    for (const char* target :
         {"/", "/version", "/api", "/apis", "/api/v1", "/apis/apps", "/apis/apps/v1", "/openapi/v2",
          "/openapi/v3", "/openapi/v3/api/v1", "/openapi/v3/apis/apps/v1"}) {
        const net::HttpResponse yaml = as_yaml("GET", target);
        const net::HttpResponse plain = get(target);
        EXPECT_EQ(yaml.status, 200) << target;
        EXPECT_EQ(yaml.headers.find("Content-Type"), kYaml) << target;
        EXPECT_EQ(json::parse(yaml.body, {}, {.max_depth = 200}),
                  json::parse(plain.body, {}, {.max_depth = 200}))
            << target;
    }
}

TEST_F(Faults, AFaultIsTheAnswerToItsRequestAloneAsAStatusWithItsId) {
    const net::HttpResponse answer = get("/metrics");
    EXPECT_EQ(reason(answer), "500 InternalError");
    ASSERT_EQ(logged_.size(), 1u);
    EXPECT_THAT(logged_[0], HasSubstr("a metric's fault"));
    EXPECT_THAT(answer.body, HasSubstr(logged_[0].substr(logged_[0].find("id=") + 3, 8)));
    EXPECT_THAT(answer.body, Not(HasSubstr("a metric's fault")))
        << "the cause is not the client's business";
    EXPECT_EQ(get(kMaps).status, 200);
}

TEST_F(Faults, AnAnswerThatCantBeWrittenIsOneToo) {
    post(kMaps, fmt::format(R"({{"metadata":{{"name":"m"}},"data":{{"k":"{}"}}}})", kWord));
    const net::HttpResponse answer = as_yaml("GET", kMaps + "/m");
    EXPECT_EQ(answer.status, 500);
    EXPECT_THAT(answer.body, HasSubstr("an internal error; the log has it under the id "));
    EXPECT_EQ(get(kMaps + "/m").status, 200);
}

TEST_F(Faults, AnAuditLogThatFailsEndsNothing) {
    sink_->faulty = true;
    EXPECT_EQ(get(kMaps).status, 200);
    sink_->faulty = false;
    EXPECT_EQ(get(kMaps).status, 200);
    EXPECT_EQ(sink_->lines.size(), 1u);
}

// ---- bytes that are not UTF-8

TEST_F(Faults, BytesThatAreNoTextAreRefusedWhereTheyWouldBeStoredOrEchoed) {
    const std::string body = config_map("a");
    const std::string bad = "a\xff";
    struct Case {
        const char* what;
        net::HttpRequest request;
    };
    for (Case& c : std::vector<Case>{
             {"a path", request("GET", "/%ff")},
             {"a name", request("GET", kMaps + "/a%ff")},
             {"a namespace", request("GET", "/api/v1/namespaces/%c3%28/pods")},
             {"a path as it is", request("GET", "/a\xff")},
             {"a field manager", request("POST", kMaps + "?fieldManager=a%ff", body)},
             {"the name of a parameter", request("POST", kMaps + "?%ff=a", body)},
             {"a selector", request("GET", kMaps + "?labelSelector=a%3D%ff")},
             {"an agent", request("POST", kMaps, body, {{"User-Agent", bad + "/1"}})},
             {"an agent of a patch",
              request("PATCH", kMaps + "/m", R"({"data":{"a":"b"}})",
                      {{"User-Agent", bad}, {"Content-Type", "application/merge-patch+json"}})},
             {"a user", request("GET", kMaps, "", {{"Impersonate-User", bad}})},
             {"a group",
              request("GET", kMaps, "", {{"Impersonate-User", "a"}, {"Impersonate-Group", bad}})},
             {"an extra key", request("GET", kMaps, "",
                                      {{"Impersonate-User", "a"}, {"Impersonate-Extra-%ff", "x"}})},
             {"JSON",
              request("POST", kMaps, R"({"metadata":{"name":"a"},"data":{"k":")" + bad + "\"}}")},
             {"a key of JSON",
              request("POST", kMaps, R"({"metadata":{"name":"a"},"data":{")" + bad + "\":\"\"}}")},
             {"half a surrogate",
              request("POST", kMaps, R"({"metadata":{"name":"a"},"data":{"k":"\ud800"}})")},
         }) {
        for (const char* accept : {"application/json", kYaml}) {
            c.request.headers.set("Accept", accept);
            const net::HttpResponse answer = send(c.request);
            EXPECT_EQ(answer.status, 400) << c.what << "\n" << answer.body;
            boost::system::error_code failed;
            EXPECT_EQ(json::parse(answer.body, failed).is_object(), true) << c.what << failed;
        }
    }
    for (const std::string& line : sink_->lines) {
        boost::system::error_code failed;
        json::parse(line, failed);
        EXPECT_FALSE(failed) << line;
    }
    EXPECT_EQ(logged_, std::vector<std::string>());
}

TEST_F(Faults, AnAgentThatIsOnlyLoggedIsReplacedThere) {
    EXPECT_EQ(send(request("GET", kMaps, "", {{"User-Agent", "a\xff"}})).status, 200);
    EXPECT_THAT(sink_->lines.back(), HasSubstr("\"userAgent\":\"a\xef\xbf\xbd\""));
}

TEST_F(Faults, AFieldManagerIsCutBetweenCharacters) {
    std::string agent = "a";
    for (int i = 0; i < 100; ++i) agent += "\xc3\xa4";
    EXPECT_EQ(send(request("POST", kMaps, config_map("a"), {{"User-Agent", agent}})).status, 201);
    const json::value made = parsed(get(kMaps + "/a"));
    const json::string& manager =
        made.at("metadata").at("managedFields").at(0).at("manager").as_string();
    EXPECT_EQ(manager.size(), 127u);
}

TEST_F(Faults, AWarningWithControlCharactersIsSent) {
    const net::HttpResponse answer =
        post(kMaps, "{\"metadata\":{\"name\":\"a\"},\"da\\u0001ta\":{}}");
    EXPECT_EQ(answer.status, 201) << answer.body;
    EXPECT_EQ(answer.headers.find("Warning"), R"(299 - "unknown field \"[da\\x01ta]\"")");
}

TEST_F(Faults, OfThousandsOfWarningsAsManyAreSentAsClientsRead) {
    for (const std::size_t length : {1u, 100u, 20'000u}) {
        std::string fields;
        for (std::size_t i = 0; i < 100'000 / length + 60; ++i)
            fields += fmt::format(",\"{}{}\":1", std::string(length, 'x'), i);
        const net::HttpResponse answer =
            post(kMaps, fmt::format(R"({{"metadata":{{"name":"a{}"}}{}}})", length, fields));
        EXPECT_EQ(answer.status, 201) << answer.body;
        std::size_t bytes = 0;
        std::vector<std::string> warnings;
        for (const net::HttpHeader field : answer.headers) {
            bytes += field.name.size() + field.value.size();
            if (field.name == "Warning") warnings.emplace_back(field.value);
        }
        EXPECT_LE(warnings.size(), 51u);
        EXPECT_GE(warnings.size(), 2u);
        EXPECT_LT(bytes, 6000u);
        EXPECT_THAT(warnings.back(), HasSubstr("more warnings"));
    }
}

TEST_F(Faults, AStrictRefusalNamesNoMoreThanAHundredFields) {
    std::string fields;
    for (int i = 0; i < 5000; ++i) fields += fmt::format(",\"x{}\":1", i);
    const net::HttpResponse answer =
        post(kMaps + "?fieldValidation=Strict", R"({"metadata":{"name":"a"})" + fields + "}");
    EXPECT_EQ(answer.status, 400);
    EXPECT_LT(answer.body.size(), 8000u);
    EXPECT_THAT(answer.body, HasSubstr("unknown field"));
}

}  // namespace
}  // namespace muster::apiserver_http::faults_test
