#include "runtime/internal/lifecycle/network_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/write.hpp>

#include "base/async/task_group.h"
#include "base/test_loop.h"

namespace muster::runtime::network_check_test {
namespace {

using asio::ip::tcp;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// A server on loopback that answers each connection with one text, and closes.
class NetworkCheck : public ::testing::Test, protected RealLoop {
  protected:
    void TearDown() override {
        acceptor.close();
        await(tasks.stop());
    }
    Task<void> serve() {
        for (;;) {
            boost::system::error_code error;
            tcp::socket client =
                co_await acceptor.async_accept(asio::redirect_error(asio::use_awaitable, error));
            if (error) co_return;
            const std::size_t size =
                co_await asio::async_read_until(client, asio::dynamic_buffer(request), "\r\n\r\n",
                                                asio::redirect_error(asio::use_awaitable, error));
            request.resize(error ? 0 : size);
            co_await asio::async_write(client, asio::buffer(answer),
                                       asio::redirect_error(asio::use_awaitable, error));
        }
    }
    static Result<UniqueFd> open() {
        return UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    }
    CheckResult get(std::string path = "/",
                    std::vector<std::pair<std::string, std::string>> headers = {}) {
        request.clear();
        return await(check_http(context.get_executor(), open,
                                {.host = "127.0.0.1",
                                 .port = port(),
                                 .path = std::move(path),
                                 .headers = std::move(headers)}));
    }
    std::uint16_t port() { return acceptor.local_endpoint().port(); }

    TaskGroup tasks{context.get_executor()};
    tcp::acceptor acceptor{context, tcp::endpoint(asio::ip::address_v4::loopback(), 0)};
    std::string answer;
    std::string request;
};

TEST_F(NetworkCheck, AnHttpStatusDecides) {
    tasks.spawn("server", serve());
    for (const auto& [status, good] : {std::pair(200, true),
                                       {204, true},
                                       {302, true},
                                       {399, true},
                                       {400, false},
                                       {404, false},
                                       {503, false}}) {
        // Longer than it says, and than anyone reads.
        answer = fmt::format("HTTP/1.1 {} Text\r\nContent-Length: 5\r\n\r\nhello", status);
        const CheckResult result = get();
        EXPECT_EQ(result.success, good) << status;
        EXPECT_EQ(result.output,
                  good ? "" : fmt::format("HTTP probe failed with statuscode: {}", status));
    }
}

TEST_F(NetworkCheck, TheRequestIsPlainAndItsHeadersMayBeSet) {
    tasks.spawn("server", serve());
    answer = "HTTP/1.1 200 OK\r\n\r\n";
    get("/up?x=1");
    EXPECT_EQ(request, fmt::format("GET /up?x=1 HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nUser-Agent: "
                                   "kube-probe/muster\r\nAccept: */*\r\nConnection: close\r\n\r\n",
                                   port()));
    get("/", {{"host", "example.com"}, {"X-A", "b"}});
    EXPECT_THAT(request, AllOf(HasSubstr("\r\nhost: example.com\r\nX-A: b\r\n"),
                               ::testing::Not(HasSubstr("Host:"))));
}

TEST_F(NetworkCheck, WhatIsNoAnswerFailsWithTheReason) {
    tasks.spawn("server", serve());
    answer = "";
    EXPECT_THAT(get().output, AllOf(StartsWith("GET http://127.0.0.1:"), HasSubstr("End of file")));
    answer = "SSH-2.0-OpenSSH\r\n\r\n";
    EXPECT_FALSE(get().success);
    answer = "HTTP/1.1 200 OK\r\nX: " + std::string(100'000, 'x') + "\r\n\r\n";
    EXPECT_FALSE(get().success) << "a header without end";
    const std::uint16_t closed = port();
    acceptor.close();
    const CheckResult refused =
        await(check_tcp(context.get_executor(), open, {.host = "127.0.0.1", .port = closed}));
    EXPECT_EQ(refused.output,
              fmt::format("connecting to 127.0.0.1:{}: Connection refused", closed));
}

TEST_F(NetworkCheck, AConnectionIsEnoughForTcp) {
    EXPECT_TRUE(
        await(check_tcp(context.get_executor(), open, {.host = "127.0.0.1", .port = port()}))
            .success)
        << "though nobody answers";
}

}  // namespace
}  // namespace muster::runtime::network_check_test
