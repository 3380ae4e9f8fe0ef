#include "muster_run/node/loopback_users.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/fsuid.h>
#include <sys/socket.h>
#include <unistd.h>

#include <utility>

#include "base/unique_fd.h"

namespace muster::run::loopback_users_test {
namespace {

constexpr uid_t kNobody = 65534;

sockaddr_in loopback(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

std::uint16_t port_of(const UniqueFd& socket) {
    sockaddr_in own{};
    socklen_t size = sizeof own;
    EXPECT_EQ(::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&own), &size), 0);
    return ntohs(own.sin_port);
}

UniqueFd listening() {
    UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const sockaddr_in any = loopback(0);
    EXPECT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&any), sizeof any), 0);
    EXPECT_EQ(::listen(socket.get(), 5), 0);
    return socket;
}

UniqueFd connected(std::uint16_t port) {
    UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const sockaddr_in there = loopback(port);
    EXPECT_EQ(::connect(socket.get(), reinterpret_cast<const sockaddr*>(&there), sizeof there), 0);
    return socket;
}

/// A socket belongs to whoever this thread counts as when it makes it.
UniqueFd connected_as(uid_t user, std::uint16_t port) {
    ::setfsuid(user);
    UniqueFd socket = connected(port);
    ::setfsuid(::geteuid());
    return socket;
}

TEST(LoopbackUsers, AreThoseWhoMadeTheSocket) {
    const UniqueFd server = listening();
    const LoopbackUsers users(port_of(server));
    ASSERT_TRUE(users.known());
    const UniqueFd own = connected(port_of(server));
    EXPECT_EQ(users.user_at("127.0.0.1", port_of(own)), ::geteuid());
    EXPECT_EQ(users.user_at("127.0.0.1", port_of(server)), std::nullopt) << "it only listens";
    EXPECT_EQ(users.user_at("::1", port_of(own)), std::nullopt);
    if (::geteuid() != 0) GTEST_SKIP() << "only root can be somebody else";
    const UniqueFd other = connected_as(kNobody, port_of(server));
    EXPECT_EQ(users.user_at("127.0.0.1", port_of(other)), kNobody);
}

// The kernel counts it as root's from then on.
TEST(LoopbackUsers, AClosedSocketIsNobodys) {
    const UniqueFd server = listening();
    const LoopbackUsers users(port_of(server));
    UniqueFd client = connected(port_of(server));
    const std::uint16_t port = port_of(client);
    EXPECT_EQ(::send(client.get(), "x", 1, MSG_NOSIGNAL), 1);
    client.reset();
    EXPECT_EQ(users.user_at("127.0.0.1", port), std::nullopt);
}

TEST(LoopbackUsers, AreReadFromTheKernelsTable) {
    constexpr std::string_view kTable =
        "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  "
        "timeout "
        "inode\n"
        "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        "
        "0 "
        "25 1 0000000000000000 100 0 0 10 0\n"
        "   1: 0100007F:C350 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  1000        "
        "0 "
        "26 1 0000000000000000 20 4 30 10 -1\n"
        "   2: 0100007F:C351 0100007F:1F90 04 00000000:00000000 00:00000000 00000000     0        "
        "0 "
        "0 1 0000000000000000 20 4 30 10 -1\n";
    EXPECT_EQ(user_in_table(kTable, "0100007F:C350", "0100007F:1F90"), 1000u);
    EXPECT_EQ(user_in_table(kTable, "0100007F:C351", "0100007F:1F90"), std::nullopt) << "closed";
    EXPECT_EQ(user_in_table(kTable, "0100007F:1F90", "0100007F:C350"), std::nullopt);
    EXPECT_EQ(user_in_table("", "0100007F:C350", "0100007F:1F90"), std::nullopt);
}

}  // namespace
}  // namespace muster::run::loopback_users_test
