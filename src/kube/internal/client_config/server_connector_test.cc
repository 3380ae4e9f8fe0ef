#include "kube/internal/client_config/server_connector.h"

#include <gmock/gmock.h>

#include "base/async/first_of.h"
#include "kube/internal/client_config/client_config_fixture.h"

namespace muster::kube::server_connector_test {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(TimeForAddress, LeavesSomeToTheNext) {
    EXPECT_EQ(time_for_address(24s, 1), 24s);
    EXPECT_EQ(time_for_address(24s, 3), 8s);
    EXPECT_EQ(time_for_address(24s, 100), 2s);
    EXPECT_EQ(time_for_address(1s, 3), 1s);
    EXPECT_EQ(time_for_address(24s, 0), 24s);
}

/// A proxy that leads to the fixture's server, wherever it is asked to lead.
class ThroughProxy : public AccessFixture {
  protected:
    ThroughProxy() {
        // A name that only the proxy can know.
        access_.url = {.tls = true, .host = "api.example", .port = 6443};
        access_.tls_server_name = "localhost";
    }
    ~ThroughProxy() override { await(tasks_.stop()); }

    /// Its address.
    std::string start(Proxy::Kind kind) {
        auto listener = net::listen_tcp(context.get_executor(), "127.0.0.1", 0);
        const std::uint16_t port = port_of(**listener);
        tasks_.spawn("proxy", accept(*std::move(listener), kind));
        return "127.0.0.1:" + std::to_string(port);
    }

    std::string asked_;   ///< of the proxy, the last time
    std::string answer_;  ///< to a CONNECT
    std::string socks_refusal_{'\0'};

  private:
    using Stream = std::unique_ptr<net::ByteStream>;

    Task<void> accept(std::unique_ptr<net::Listener> listener, Proxy::Kind kind) {
        for (;;) {
            auto client = co_await listener->accept();
            if (!client) co_return;
            tasks_.spawn("client of the proxy", serve(*std::move(client), kind));
        }
    }
    Task<void> serve(Stream client, Proxy::Kind kind) {
        if (kind == Proxy::Kind::kHttps) {
            auto session = co_await proxy_tls_->accept(std::move(client));
            if (!session) co_return;
            client = *std::move(session);
        }
        const bool leads = kind == Proxy::Kind::kSocks5 ? co_await greet_socks(*client)
                                                        : co_await greet_http(*client);
        if (!leads) co_return;
        auto server = co_await net::connect_tcp(context.get_executor(), "127.0.0.1", port_);
        if (!server) co_return;
        co_await first_of(pump(*client, **server), pump(**server, *client));
    }
    static Task<void> pump(net::ByteStream& from, net::ByteStream& to) {
        std::array<char, 16384> piece{};
        for (;;) {
            const auto size = co_await from.read_some(asio::buffer(piece));
            if (!size || *size == 0) co_return;
            if (!co_await to.write(asio::buffer(piece.data(), *size))) co_return;
        }
    }
    static Task<std::string> take(net::ByteStream& from, std::size_t size) {
        std::string bytes(size, '\0');
        for (std::size_t have = 0; have < size;) {
            const auto got =
                co_await from.read_some(asio::buffer(bytes.data() + have, size - have));
            if (!got || *got == 0) break;
            have += *got;
        }
        co_return bytes;
    }
    static Task<void> give(net::ByteStream& to, std::string bytes) {
        (void)co_await to.write(asio::buffer(bytes));
    }

    Task<bool> greet_http(net::ByteStream& client) {
        asked_.clear();
        while (!asked_.ends_with("\r\n\r\n")) asked_ += co_await take(client, 1);
        const bool leads = answer_.empty();
        co_await give(client, leads ? "HTTP/1.1 200 Connection established\r\n\r\n" : answer_);
        co_return leads;
    }
    Task<bool> greet_socks(net::ByteStream& client) {
        const std::string hello = co_await take(client, 2);
        const std::string methods = co_await take(client, static_cast<std::size_t>(hello[1]));
        asked_.clear();
        if (methods.find('\2') != methods.npos) {
            co_await give(client, "\5\2");
            for (int text = 0; text < 2; ++text) {
                const std::string head = co_await take(client, text == 0 ? 2 : 1);
                asked_ += co_await take(client, static_cast<std::size_t>(head.back())) + " ";
            }
            co_await give(client, std::string("\1\0", 2));
        } else {
            co_await give(client, std::string("\5\0", 2));
        }
        const std::string wish = co_await take(client, 5);
        asked_ += co_await take(client, static_cast<std::size_t>(wish[4]));
        const std::string port = co_await take(client, 2);
        asked_ += ":" + std::to_string(static_cast<unsigned char>(port[0]) * 256 +
                                       static_cast<unsigned char>(port[1]));
        co_await give(client, "\5" + socks_refusal_ + std::string("\0\3\4here\0\0", 9));
        co_return socks_refusal_[0] == '\0';
    }

    net::FixedCalendar calendar_{clock};
    std::unique_ptr<net::TlsServerContext> proxy_tls_ =
        net::TlsFixture::get().server_context(calendar_);
    TaskGroup tasks_{context.get_executor()};
};

TEST_F(ThroughProxy, ByConnectWithALogin) {
    access_.token = "t";
    access_.proxy_url = "http://ann:p%40ss@" + start(Proxy::Kind::kHttp);
    open();
    EXPECT_EQ(call(), "200");
    EXPECT_EQ(asked_,
              "CONNECT api.example:6443 HTTP/1.1\r\nHost: api.example:6443\r\n"
              "Proxy-Authorization: Basic YW5uOnBAc3M=\r\n\r\n");
    EXPECT_THAT(authorizations(), ElementsAre("Bearer t")) << "the server's alone";
}

TEST_F(ThroughProxy, ThatTheEnvironmentNames) {
    environment_.push_back("HTTPS_PROXY=" + start(Proxy::Kind::kHttp));
    open();
    EXPECT_EQ(call(), "200");
    EXPECT_THAT(asked_, Not(HasSubstr("Authorization")));
}

TEST_F(ThroughProxy, OfTheKubeconfigBeforeTheEnvironment) {
    environment_ = {"HTTPS_PROXY=http://127.0.0.1:1", "NO_PROXY=*"};
    access_.proxy_url = "http://" + start(Proxy::Kind::kHttp);
    open();
    EXPECT_EQ(call(), "200");
}

TEST_F(ThroughProxy, ThatSpeaksTls) {
    access_.proxy_url = "https://" + start(Proxy::Kind::kHttps);
    open();
    EXPECT_EQ(call(), "200");
    EXPECT_THAT(asked_, HasSubstr("CONNECT api.example:6443"));
}

TEST_F(ThroughProxy, OfSocks) {
    access_.proxy_url = "socks5://" + start(Proxy::Kind::kSocks5);
    open();
    EXPECT_EQ(call(), "200");
    EXPECT_EQ(asked_, "api.example:6443");
}

TEST_F(ThroughProxy, OfSocksWithALogin) {
    access_.proxy_url = "socks5://ann:pass@" + start(Proxy::Kind::kSocks5);
    open();
    EXPECT_EQ(call(), "200");
    EXPECT_EQ(asked_, "ann pass api.example:6443");
}

TEST_F(ThroughProxy, ToAServerWithoutTls) {
    // What answers is not a plain server; what it is asked for is seen by the proxy.
    access_.url = {.tls = false, .host = "api.example", .port = 8080};
    environment_.push_back("http_proxy=" + start(Proxy::Kind::kHttp));
    open();
    EXPECT_NE(call(), "200");
    EXPECT_THAT(asked_, HasSubstr("CONNECT api.example:8080"));
}

TEST_F(ThroughProxy, ThatRefuses) {
    const std::string address = start(Proxy::Kind::kHttp);
    access_.proxy_url = "http://" + address;
    open();
    answer_ = "HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 2\r\n\r\nno";
    const auto answer = await(connection_->objects().call(request()));
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code(), Code::kUnavailable) << "nothing was sent";
    EXPECT_THAT(answer.error().message(),
                AllOf(HasSubstr(address), HasSubstr("api.example:6443"), HasSubstr("407")));
    EXPECT_THAT(seen_, IsEmpty());
}

TEST_F(ThroughProxy, OfSocksThatRefuses) {
    access_.proxy_url = "socks5://" + start(Proxy::Kind::kSocks5);
    socks_refusal_ = "\2";
    open();
    EXPECT_THAT(call(), HasSubstr("its rules forbid it"));
}

TEST_F(ThroughProxy, ThatIsNotThere) {
    access_.proxy_url = "http://127.0.0.1:1";
    open();
    EXPECT_THAT(call(), HasSubstr("the proxy http://127.0.0.1:1"));
}

}  // namespace
}  // namespace muster::kube::server_connector_test
