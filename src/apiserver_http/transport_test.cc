#include "apiserver/fake_node.h"
#include "apiserver/server_fixture.h"
#include "apiserver_http/http_front.h"
#include "kube/transport/http_transport.h"
#include "kube/transport/transport_contract_test.h"
#include "net/memory_stream.h"

namespace muster::apiserver_http::transport_test {
namespace {

/// The embedded API as a Transport, with a node that has the container of pod "a".
class ServerWorld : protected SimulatedLoop {
  public:
    ServerWorld() {
        server_.connect_node(node_);
        EXPECT_TRUE(await(server_.start()));
        for (const char* name : {"a", "b"})
            write(
                kube::Method::kPost, "",
                fmt::format(R"({{"metadata":{{"name":"{}"}},"spec":{{"nodeName":"n","containers":)"
                            R"([{{"name":"main","image":"i"}}]}}}})",
                            name));
        node_.add_container("default", "a", "main");
        node_.start("default", "a", "main");
    }
    ~ServerWorld() override { await(server_.stop()); }

    TestLoop& loop() { return *this; }
    kube::Transport& transport() { return server_; }

    // Nothing is scripted here.
    void expect_get(const std::string&) {}
    void expect_create(const std::string&) {}
    void expect_list(bool) {}
    void expect_watch() {}
    void expect_refused_watch() {}
    void expect_log() {}
    void expect_refused_log() {}

    void change(const std::string& name) {
        write(kube::Method::kPatch, "/" + name,
              fmt::format(R"({{"metadata":{{"labels":{{"n":"{}"}}}}}})", ++changes_));
    }
    void end_watch() { await(server_.stop()); }
    void print(std::string text) { node_.write("default", "a", "main", text); }
    void end_log() { node_.end("default", "a", "main"); }

  protected:
    apiserver::ApiServer& server() { return server_; }

  private:
    void write(kube::Method method, const std::string& name, const std::string& body) {
        kube::Request request;
        request.method = method;
        request.path = "/api/v1/namespaces/default/pods" + name;
        if (method == kube::Method::kPatch) request.content_type = kube::ContentType::kMergePatch;
        request.body = std::make_shared<const json::value>(json::parse(body));
        const auto answer = await(server_.call(std::move(request)));
        ASSERT_TRUE(answer);
        ASSERT_LT(answer->status, 300) << json::serialize(*answer->body);
    }

    Rng rng_{1};
    apiserver::FakeNode node_{context.get_executor(), clock};
    apiserver::ApiServer server_{context.get_executor(), clock, rng_, store::make_memory_store()};
    int changes_ = 0;
};

/// The same seen over HTTP.
class HttpWorld : public ServerWorld {
  public:
    HttpWorld() {
        auto listener = std::make_unique<net::MemoryListener>(context.get_executor());
        listener_ = listener.get();
        http_.serve(std::move(listener));
    }
    ~HttpWorld() override {
        await(http_.stop());
        await(client_.stop());
    }

    kube::Transport& transport() { return transport_; }

  private:
    net::MemoryListener* listener_ = nullptr;
    HttpFront front_{server(), {.admin_token = "secret"}};
    net::HttpServer http_{context.get_executor(), clock, {}, [this](net::HttpExchange& exchange) {
                              return front_.serve(exchange);
                          }};
    net::HttpClient client_{context.get_executor(), clock,
                            [this]() -> Task<Result<std::unique_ptr<net::ByteStream>>> {
                                co_return listener_->connect();
                            }};
    kube::FixedToken identity_{"secret"};
    kube::HttpTransport transport_{client_, identity_, {}};
};

}  // namespace
}  // namespace muster::apiserver_http::transport_test

namespace muster::kube {

INSTANTIATE_TYPED_TEST_SUITE_P(Embedded, TransportContract,
                               apiserver_http::transport_test::ServerWorld);
INSTANTIATE_TYPED_TEST_SUITE_P(OverHttp, TransportContract,
                               apiserver_http::transport_test::HttpWorld);

}  // namespace muster::kube
