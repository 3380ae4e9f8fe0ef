#include "kube/transport/fake_transport.h"

#include <stdexcept>

#include "kube/transport/transport_contract_test.h"

namespace muster::kube::fake_transport_test {
namespace {

/// Scripts what a server would answer.
class ScriptedWorld {
  public:
    TestLoop& loop() { return loop_; }
    Transport& transport() { return transport_; }

    void expect_get(const std::string& name) {
        transport_.expect(Method::kGet, kPods + "/" + name, {},
                          name == "none" ? status_response(Error(Code::kNotFound, "not found"))
                                         : json_response(pod(name)));
    }
    void expect_create(const std::string&) {
        transport_.expect(Method::kPost, kPods, {},
                          status_response(Error(Code::kAlreadyExists, "already exists")));
    }
    void expect_list(bool apart) {
        Response answer = json_response({{"metadata", {{"resourceVersion", "9"}}}});
        if (apart) {
            for (const char* name : {"a", "b"})
                answer.items.push_back(std::make_shared<const json::value>(pod(name)));
        } else {
            answer = json_response({{"metadata", {{"resourceVersion", "9"}}},
                                    {"items", json::array{pod("a"), pod("b")}}});
        }
        transport_.expect(Method::kGet, kPods, {}, std::move(answer));
    }
    void expect_watch() { watch_ = transport_.expect_watch(kPods, {{"watch", "true"}}); }
    void expect_refused_watch() {
        transport_.expect_refused_watch("/api/v1/namespaces/default/things", {{"watch", "true"}},
                                        Error(Code::kNotFound, "no such resource"));
    }
    void expect_log() { log_ = transport_.expect_text(kPods + "/a/log", {{"follow", "true"}}); }
    void expect_refused_log() {
        transport_.expect_refused_text(kPods + "/none/log", {{"follow", "true"}},
                                       Error(Code::kNotFound, "not found"));
    }
    void change(const std::string& name) {
        ++revision_;
        if (watch_->open()) watch_->send(WatchEventType::kModified, pod(name));
    }
    void end_watch() { watch_->end(); }
    void print(std::string text) { log_->send(std::move(text)); }
    void end_log() { log_->end(); }

  private:
    json::value pod(const std::string& name) const {
        return {{"kind", "Pod"},
                {"apiVersion", "v1"},
                {"metadata", {{"name", name}, {"resourceVersion", std::to_string(revision_)}}}};
    }

    const std::string kPods = "/api/v1/namespaces/default/pods";
    SimulatedLoop loop_;
    FakeTransport transport_{loop_.context.get_executor()};
    std::shared_ptr<FakeWatch> watch_;
    std::shared_ptr<FakeText> log_;
    int revision_ = 5;
};

INSTANTIATE_TYPED_TEST_SUITE_P(Fake, TransportContract, ScriptedWorld);

// Where the fake is stricter than a server.
class FakeTransportTest : public ::testing::Test, protected SimulatedLoop {
  protected:
    static Request get(std::string path) {
        Request request;
        request.path = std::move(path);
        return request;
    }
    FakeTransport transport{context.get_executor()};
};

TEST_F(FakeTransportTest, WhatIsNotInTheScriptEndsTheTest) {
    EXPECT_TRUE(transport.finished());
    EXPECT_THROW((void)await(transport.call(get("/api/v1/pods"))), std::logic_error);
    EXPECT_FALSE(transport.finished());
    transport.expect(Method::kGet, "/api/v1/pods", {}, json_response(json::object()));
    EXPECT_THROW((void)await(transport.call(get("/api/v1/nodes"))), std::logic_error);
    transport.expect_watch("/api/v1/pods", {});
    EXPECT_THROW((void)await(transport.call(get("/api/v1/pods"))), std::logic_error)
        << "not a watch";
    transport.expect_text("/api/v1/pods", {});
    EXPECT_THROW((void)await(transport.call(get("/api/v1/pods"))), std::logic_error)
        << "not a text";
}

TEST_F(FakeTransportTest, ItemsApartForWhoDidNotAskEndTheTest) {
    Response answer = json_response(json::object());
    answer.items.push_back(std::make_shared<const json::value>(json::object()));
    transport.expect(Method::kGet, "/api/v1/pods", {}, answer);
    EXPECT_THROW((void)await(transport.call(get("/api/v1/pods"))), std::logic_error);
}

}  // namespace
}  // namespace muster::kube::fake_transport_test
