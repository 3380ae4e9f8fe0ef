#include "control_plane/internal/extension_client.h"

#include <gtest/gtest.h>

#include "base/async/task_fault.h"
#include "base/test_loop.h"
#include "net/http/http_server.h"
#include "net/memory_stream.h"
#include "net/tls/tls_fixture.h"

namespace muster::control_plane::extension_client_test {
namespace {

using namespace std::chrono_literals;

class ExtensionClientTest : public ::testing::Test, protected SimulatedLoop {
  protected:
    ExtensionClientTest() {
        auto listener = std::make_unique<net::MemoryListener>(context.get_executor());
        listener_ = listener.get();
        server_.serve(std::move(listener), tls_.get());
    }
    ~ExtensionClientTest() override {
        await(client_.stop());
        await(server_.stop());
    }

    /// Says who asked; `/slow` says the beginning, and no more; `/upgrade` sends back what it gets.
    Task<void> serve(net::HttpExchange& exchange) {
        const net::HttpRequest& request = exchange.request();
        if (request.target == "/upgrade") {
            auto stream =
                co_await exchange.upgrade({{"Connection", "Upgrade"}, {"Upgrade", "echo"}});
            if (!stream) co_return;
            std::array<char, 64> buffer{};
            const auto size = co_await (*stream)->read_some(asio::buffer(buffer));
            if (size) std::ignore = co_await (*stream)->write(asio::buffer(buffer.data(), *size));
            co_return;
        }
        if (request.target == "/slow") {
            std::ignore = co_await exchange.begin(200, {});
            std::ignore = co_await exchange.write("first");
            co_await clock.sleep_for(1h);
            co_return;
        }
        if (request.target == "/silent") co_await clock.sleep_for(1h);
        const auto& shown = request.client_certificate;
        exchange.respond(200, {}, shown ? shown->common_name : "a stranger");
    }

    apiserver::ExtensionEndpoint endpoint(bool insecure = false) const {
        apiserver::ExtensionEndpoint made;
        made.where.host = "localhost";
        made.where.pod = apiserver::PodPort{"default", "p", 8443};
        made.where.ca_pem = net::TlsFixture::get().ca.certificate;
        made.insecure = insecure;
        return made;
    }
    static net::HttpRequest request(std::string target) {
        net::HttpRequest made;
        made.target = std::move(target);
        return made;
    }
    Result<std::unique_ptr<net::HttpBody>> open(apiserver::ExtensionEndpoint to,
                                                std::string target = "/", Duration time = 5s) {
        return await(client_.open(std::move(to), request(std::move(target)), time, 1h));
    }
    /// The body, or the failure.
    std::string text(Result<std::unique_ptr<net::HttpBody>> body) {
        if (!body) return "failed: " + body.error().message();
        std::string whole;
        for (;;) {
            auto piece = await((*body)->read());
            if (!piece) return "broke off: " + piece.error().message();
            if (!*piece) return whole;
            whole += **piece;
        }
    }

    net::MemoryListener* listener_ = nullptr;
    std::unique_ptr<net::TlsServerContext> tls_ =
        net::TlsFixture::get().server_context(clock, true);
    net::HttpServer server_{context.get_executor(), clock, {}, [this](net::HttpExchange& exchange) {
                                return serve(exchange);
                            }};
    std::vector<apiserver::PodPort> reached_;
    ExtensionClient client_{
        context.get_executor(), clock, net::TlsFixture::get().client,
        [this](apiserver::PodPort port) -> Task<Result<std::unique_ptr<net::ByteStream>>> {
            return [](ExtensionClientTest* test,
                      apiserver::PodPort to) -> Task<Result<std::unique_ptr<net::ByteStream>>> {
                test->reached_.push_back(std::move(to));
                co_return test->listener_->connect();
            }(this, std::move(port));
        }};
};

TEST_F(ExtensionClientTest, ItShowsItsCertificate) {
    EXPECT_EQ(text(open(endpoint())), "ada");
    EXPECT_EQ(reached_, (std::vector<apiserver::PodPort>{{"default", "p", 8443}}));
}

TEST_F(ExtensionClientTest, AServerHasToBeTheOneThatIsMeant) {
    apiserver::ExtensionEndpoint other = endpoint();
    other.where.host = "wardle.default.svc";
    EXPECT_TRUE(text(open(other)).starts_with("failed: ")) << "another name";
    other.insecure = true;
    EXPECT_EQ(text(open(other)), "ada");
    apiserver::ExtensionEndpoint unknown = endpoint();
    unknown.where.ca_pem = net::make_ca("other", net::TlsFixture::validity())->certificate;
    EXPECT_TRUE(text(open(unknown)).starts_with("failed: ")) << "another authority";
    unknown.where.ca_pem = "nonsense";
    EXPECT_TRUE(text(open(unknown)).starts_with("failed: "));
}

TEST_F(ExtensionClientTest, ABodyIsReadPieceByPieceAndLeftAtAnyTime) {
    auto body = open(endpoint(), "/slow");
    ASSERT_TRUE(body) << body.error().message();
    EXPECT_EQ((*await((*body)->read())).value(), "first");
    body->reset();
    settle();
    EXPECT_EQ(text(open(endpoint())), "ada");
}

TEST_F(ExtensionClientTest, OneThatSaysNothingHasItsTime) {
    const auto body = open(endpoint(), "/silent", 5s);
    ASSERT_FALSE(body);
    EXPECT_EQ(body.error().code(), Code::kTimeout);
    EXPECT_EQ(body.error().message(), "no answer in 5000 ms");
}

TEST_F(ExtensionClientTest, ACallThatIsCancelledLeavesNothing) {
    TaskGroup tasks(context.get_executor());
    tasks.spawn("a call",
                [](ExtensionClient* client, apiserver::ExtensionEndpoint to) -> Task<void> {
                    std::ignore = co_await client->open(std::move(to), request("/silent"), 1h, 1h);
                }(&client_, endpoint()));
    settle();
    await(tasks.stop());
    EXPECT_EQ(text(open(endpoint())), "ada");
}

TEST_F(ExtensionClientTest, AnUpgradedConnectionOutlivesItsCall) {
    net::HttpRequest made = request("/upgrade");
    made.headers = {{"Connection", "Upgrade"}, {"Upgrade", "echo"}};
    auto upgraded = await(client_.upgrade(endpoint(), made, 5s));
    ASSERT_TRUE(upgraded) << upgraded.error().message();
    ASSERT_NE(upgraded->stream, nullptr);
    settle();
    std::array<char, 8> buffer{};
    ASSERT_TRUE(await(upgraded->stream->write(asio::buffer("ping", 4))));
    EXPECT_EQ(*await(upgraded->stream->read_some(asio::buffer(buffer))), 4u);
    auto refused = await(client_.upgrade(endpoint(), request("/"), 5s));
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->stream, nullptr);
    EXPECT_EQ(refused->response.body, "ada");
}

TEST_F(ExtensionClientTest, ItsEndEndsWhatIsStillRead) {
    auto body = open(endpoint(), "/slow");
    ASSERT_TRUE(body);
    TaskGroup tasks(context.get_executor());
    std::string last = "nothing";
    tasks.spawn("a reader",
                [](std::unique_ptr<net::HttpBody> read, std::string* said) -> Task<void> {
                    for (;;) {
                        auto piece = co_await read->read();
                        *said = !piece ? "failed" : *piece ? **piece : "end";
                        if (!piece || !*piece) co_return;
                    }
                }(*std::move(body), &last));
    settle();
    EXPECT_EQ(last, "first");
    await(client_.stop());
    settle();
    EXPECT_EQ(last, "failed");
    const auto late = open(endpoint());
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().code(), Code::kCancelled);
    await(tasks.stop());
}

TEST_F(ExtensionClientTest, AFaultWhileACallEndsIsMadeUpFor) {
    {
        const TaskFault fault("end of a call of an API server");
        EXPECT_EQ(text(open(endpoint())), "ada");
        settle();
        EXPECT_EQ(fault.hits(), 1u);
    }
    EXPECT_EQ(text(open(endpoint())), "ada");
    advance(2s);
}

}  // namespace
}  // namespace muster::control_plane::extension_client_test
