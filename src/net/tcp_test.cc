#include "net/tcp.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <filesystem>
#include <map>

#include "base/test_loop.h"
#include "net/memory_stream.h"

namespace muster::net::tcp_test {
namespace {

using namespace std::chrono_literals;

using Address = decltype(&::getpeername);

/// This program's connections with that port at one end, the other side's (getpeername) or its own
/// (getsockname), and what one of their options is.
std::vector<int> options_of_connections(Address end, std::uint16_t port, int level, int option) {
    std::vector<int> values;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
        const int fd = std::stoi(entry.path().filename());
        sockaddr_in peer{};
        socklen_t size = sizeof peer;
        if (::getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &size) != 0 ||
            end(fd, reinterpret_cast<sockaddr*>(&peer), &size) != 0 || peer.sin_family != AF_INET ||
            ntohs(peer.sin_port) != port)
            continue;
        int value = -1;
        socklen_t value_size = sizeof value;
        EXPECT_EQ(::getsockopt(fd, level, option, &value, &value_size), 0);
        values.push_back(value);
    }
    return values;
}

class Tcp : public testing::Test, public RealLoop {};

TEST_F(Tcp, SaysByWhichOfItsAddressesAConnectionIsMade) {
    auto listener = listen_tcp_everywhere(context.get_executor(), 0).value();
    const std::string address = listener->address();
    const auto port = static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1)));
    auto near = await(connect_tcp(context.get_executor(), "127.0.0.7", port)).value();
    const auto far = await(listener->accept()).value();
    EXPECT_EQ(local_host(*far), "127.0.0.7") << "of IPv4, whatever the listener's family is";
    EXPECT_EQ(local_host(*near), "127.0.0.1");
    near->close();
    EXPECT_EQ(local_host(*near), "");
    EXPECT_EQ(local_host(*make_memory_streams(context.get_executor()).first), "");
}

TEST_F(Tcp, AConnectionNoticesAPeerThatVanishedAsItIsTold) {
    auto listener = listen_tcp(context.get_executor(), "127.0.0.1", 0).value();
    const std::string address = listener->address();
    const auto port = static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1)));
    struct Row {
        TcpLiveness liveness;
        std::map<int, int> options;  // of IPPROTO_TCP
    };
    const Row kRows[] = {
        {{}, {{TCP_KEEPIDLE, 30}, {TCP_KEEPINTVL, 15}, {TCP_KEEPCNT, 4}, {TCP_USER_TIMEOUT, 0}}},
        {{.idle = 15s, .interval = 5s, .probes = 3, .unacknowledged = 30s},
         {{TCP_KEEPIDLE, 15}, {TCP_KEEPINTVL, 5}, {TCP_KEEPCNT, 3}, {TCP_USER_TIMEOUT, 30'000}}}};
    for (const Row& row : kRows) {
        const auto stream =
            await(connect_tcp(context.get_executor(), "127.0.0.1", port, row.liveness));
        ASSERT_TRUE(stream) << stream.error().message();
        const auto accepted = await(listener->accept());
        ASSERT_TRUE(accepted) << accepted.error().message();
        for (const Address end : {&::getpeername, &::getsockname}) {
            EXPECT_EQ(options_of_connections(end, port, SOL_SOCKET, SO_KEEPALIVE), std::vector{1});
            EXPECT_EQ(options_of_connections(end, port, IPPROTO_TCP, TCP_NODELAY), std::vector{1});
        }
        for (const auto& [option, value] : row.options)
            EXPECT_EQ(options_of_connections(&::getpeername, port, IPPROTO_TCP, option),
                      std::vector{value})
                << option;
        for (const auto& [option, value] : kRows[0].options)
            EXPECT_EQ(options_of_connections(&::getsockname, port, IPPROTO_TCP, option),
                      std::vector{value})
                << option;
    }
}

TEST_F(Tcp, WhatGathersDoesNotWakeTheLoop) {
    auto listener = listen_tcp(context.get_executor(), "127.0.0.1", 0).value();
    const std::string address = listener->address();
    const auto port = static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1)));
    auto near = await(connect_tcp(context.get_executor(), "127.0.0.1", port)).value();
    const auto far = await(listener->accept()).value();
    const auto wakes_for = [&] {
        return options_of_connections(&::getpeername, port, SOL_SOCKET, SO_RCVLOWAT).at(0);
    };
    std::array<char, 4> buffer{};
    const auto read = [&] { return await(near->read_some(asio::buffer(buffer))).value(); };
    ASSERT_TRUE(await(far->write(asio::buffer("abcdef", 6))));
    ASSERT_EQ(read(), 4u);
    EXPECT_FALSE(near->gather()) << "there is more to read";
    ASSERT_EQ(read(), 2u);
    EXPECT_EQ(wakes_for(), 1);
    EXPECT_TRUE(near->gather());
    EXPECT_GT(wakes_for(), 1000);
    ASSERT_TRUE(await(far->write(asio::buffer("g", 1))));
    ASSERT_EQ(read(), 1u);
    EXPECT_EQ(wakes_for(), 1);
    near->close();
    EXPECT_FALSE(near->gather());
}

}  // namespace
}  // namespace muster::net::tcp_test
