#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "base/test_loop.h"
#include "net/http/http_client.h"
#include "net/http/http_server.h"
#include "net/tcp.h"
#include "net/tls/tls_fixture.h"

namespace muster::net::http_sockets_test {
namespace {

using namespace std::chrono_literals;

/// Client and server as they are in production: sockets, TLS and real time.
class HttpOverSockets : public ::testing::Test, public RealLoop {
  protected:
    ~HttpOverSockets() override {
        await(server_.stop());
        std::filesystem::remove_all(folder_);
    }
    static Task<void> answer(HttpExchange& exchange) {
        const HttpRequest& request = exchange.request();
        if (request.target == "/stream") {
            if (!co_await exchange.begin(200, {})) co_return;
            for (int i = 0; i < 3; ++i)
                if (!co_await exchange.write(std::string(100'000, static_cast<char>('a' + i))))
                    co_return;
            (void)co_await exchange.end();
            co_return;
        }
        const auto& shown = request.client_certificate;
        exchange.respond(200, {}, (shown ? shown->common_name : "nobody") + " " + request.body);
    }
    std::uint16_t listen(TlsServerContext* tls) {
        auto listener = listen_tcp(context.get_executor(), "127.0.0.1", 0);
        EXPECT_TRUE(listener) << listener.error().message();
        const std::string address = (*listener)->address();
        server_.serve(*std::move(listener), tls);
        return static_cast<std::uint16_t>(std::stoi(address.substr(address.find(':') + 1)));
    }
    /// What a client gets through `connector`.
    void expect_conversation(HttpConnector connector, const std::string& name) {
        HttpClient client(context.get_executor(), clock_, std::move(connector));
        for (const std::size_t size : {std::size_t{10}, std::size_t{2'000'000}}) {
            HttpRequest request;
            request.method = "POST";
            request.target = "/";
            request.body = std::string(size, 'x');
            const auto answered = await(client.call(request, 10s));
            ASSERT_TRUE(answered) << answered.error().message();
            EXPECT_TRUE(answered->body == name + " " + request.body);
        }
        HttpRequest request;
        request.target = "/stream";
        auto body = await(client.stream(request, 10s));
        ASSERT_TRUE(body) << body.error().message();
        std::string all;
        for (;;) {
            const auto piece = await((*body)->read());
            ASSERT_TRUE(piece) << piece.error().message();
            if (!*piece) break;
            all += **piece;
        }
        EXPECT_EQ(all.size(), 300'000u);
        EXPECT_EQ(client.idle_connections(), 1u) << "one connection for all";
        await(client.stop());
    }

    std::filesystem::path folder_ =
        std::filesystem::temp_directory_path() / ("muster-http-" + std::to_string(::getpid()));
    FixedCalendar clock_{clock};
    HttpServer server_{context.get_executor(), clock_, {}, with_body(answer)};
    const TlsFixture& made_ = TlsFixture::get();
};

TEST_F(HttpOverSockets, Tcp) {
    expect_conversation(tcp_connector(context.get_executor(), "localhost", listen(nullptr)),
                        "nobody");
}

TEST_F(HttpOverSockets, Tls) {
    auto server = made_.server_context(clock_, true);
    auto client = made_.client_context(clock_, true);
    expect_conversation(
        tcp_connector(context.get_executor(), "127.0.0.1", listen(server.get()), client.get()),
        "ada");
    await(server_.stop());
}

TEST_F(HttpOverSockets, Unix) {
    auto listener = listen_unix(context.get_executor(), folder_ / "socket");
    ASSERT_TRUE(listener) << listener.error().message();
    server_.serve(*std::move(listener));
    expect_conversation([this] { return connect_unix(context.get_executor(), folder_ / "socket"); },
                        "nobody");
}

TEST_F(HttpOverSockets, AServerThatIsNotTrustedIsUnavailable) {
    auto server = made_.server_context(clock_);
    auto other = make_ca("other CA", TlsFixture::validity());
    ASSERT_TRUE(other);
    auto trusting = TlsClientContext::create(clock_, {.ca_pem = other->certificate});
    ASSERT_TRUE(trusting);
    HttpClient client(
        context.get_executor(), clock_,
        tcp_connector(context.get_executor(), "127.0.0.1", listen(server.get()), trusting->get()));
    const auto answered = await(client.call({}, 10s));
    ASSERT_FALSE(answered);
    EXPECT_EQ(answered.error().code(), Code::kUnavailable);
    EXPECT_NE(answered.error().message().find("certificate"), std::string::npos)
        << answered.error().message();
    await(client.stop());
    await(server_.stop());
}

}  // namespace
}  // namespace muster::net::http_sockets_test
