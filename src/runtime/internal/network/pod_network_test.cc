#include "runtime/internal/network/pod_network.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <functional>
#include <string_view>

#include "base/test_loop.h"
#include "process/nobody_fixture.h"
#include "runtime/internal/sandbox/sandbox.h"

namespace muster::runtime::pod_network_test {
namespace {

constexpr int kLimitMs = 20'000;

sockaddr_in endpoint(std::uint32_t address, std::uint16_t port) {
    sockaddr_in end{};
    end.sin_family = AF_INET;
    end.sin_port = htons(port);
    end.sin_addr.s_addr = htonl(address);
    return end;
}

std::uint16_t port_of(const UniqueFd& listener) {
    sockaddr_in end{};
    socklen_t size = sizeof end;
    ::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&end), &size);
    return ntohs(end.sin_port);
}

/// 0, or the errno with which the connection ended.
int connect_to(const UniqueFd& socket, std::uint32_t address, std::uint16_t port) {
    const sockaddr_in end = endpoint(address, port);
    if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&end), sizeof end) == 0) return 0;
    if (errno != EINPROGRESS) return errno;
    pollfd event{socket.get(), POLLOUT, 0};
    if (::poll(&event, 1, kLimitMs) != 1) return ETIMEDOUT;
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    return error;
}

/// One byte from one end to the other, once the listener has the connection.
bool carries(const UniqueFd& from, const UniqueFd& listener) {
    pollfd event{listener.get(), POLLIN, 0};
    if (::poll(&event, 1, kLimitMs) != 1) return false;
    const UniqueFd accepted(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    char byte = 'x';
    if (::write(from.get(), &byte, 1) != 1) return false;
    event.fd = accepted.get();
    return ::poll(&event, 1, kLimitMs) == 1 && ::read(accepted.get(), &byte, 1) == 1;
}

/// A host with two pods that run nothing.
class PodNetwork : public RealLoop {
  public:
    static constexpr std::uint32_t kOne = PodFabric::kRange + 2;
    static constexpr std::uint32_t kTwo = PodFabric::kRange + 3;

    PodNetwork() : host(SandboxHost::create(true).value()), one(start(kOne)), two(start(kTwo)) {}
    /// On the router of an earlier one, whose pod `one` is to be.
    explicit PodNetwork(UniqueFd router)
        : host(SandboxHost::create(true, std::move(router)).value()), two(start(kTwo)) {}

    std::unique_ptr<PodSandbox> start(std::uint32_t address,
                                      const std::filesystem::path& socket = {}) {
        const SandboxSpec spec{.title = "ns/pod",
                               .hostname = "pod",
                               .address = address,
                               .mounts = {},
                               .socket = socket};
        auto sandbox = PodSandbox::start(context.get_executor(), host, spec).value();
        auto report = await(sandbox->next_report());
        if (!report || !*report || (*report)->kind != pod_init::Report::Kind::kReady)
            throw std::runtime_error("a pod did not come up");
        return sandbox;
    }
    PodFabric& fabric() { return *host.fabric; }
    NetworkNamespace inside(const std::unique_ptr<PodSandbox>& pod) {
        return pod->network().value();
    }
    UniqueFd listen_in(const std::unique_ptr<PodSandbox>& pod) {
        UniqueFd listener = inside(pod).open_socket(AF_INET, SOCK_STREAM, 0).value();
        const sockaddr_in any = endpoint(INADDR_ANY, 0);
        if (::bind(listener.get(), reinterpret_cast<const sockaddr*>(&any), sizeof any) < 0 ||
            ::listen(listener.get(), 1) < 0)
            throw std::runtime_error("a pod can't listen");
        return listener;
    }

    SandboxHost host;
    std::unique_ptr<PodSandbox> one;
    std::unique_ptr<PodSandbox> two;
};

bool we_reach_pods() {
    PodNetwork network;
    const UniqueFd listener = network.listen_in(network.one);
    const UniqueFd ours = network.fabric().open_socket().value();
    return connect_to(ours, PodNetwork::kOne, port_of(listener)) == 0 && carries(ours, listener);
}

bool pods_reach_us() {
    PodNetwork network;
    const UniqueFd listener = network.fabric().open_listener(PodFabric::kGateway, 0).value();
    const UniqueFd theirs =
        network.inside(network.two).open_socket(AF_INET, SOCK_STREAM, 0).value();
    return connect_to(theirs, PodFabric::kGateway, port_of(listener)) == 0 &&
           carries(theirs, listener);
}

bool pods_reach_each_other_and_nothing_else() {
    PodNetwork network;
    const UniqueFd listener = network.listen_in(network.one);
    const auto connect_from_two = [&](std::uint32_t address, std::uint16_t port) {
        return connect_to(network.inside(network.two).open_socket(AF_INET, SOCK_STREAM, 0).value(),
                          address, port);
    };
    return connect_from_two(PodNetwork::kOne, port_of(listener)) == 0 &&
           connect_from_two(PodNetwork::kOne, 1) == ECONNREFUSED &&
           connect_from_two(PodFabric::kRange + 77, 80) == ECONNREFUSED &&  // no such pod
           connect_from_two(0xC6336401, 80) == ECONNREFUSED;                // 198.51.100.1
}

/// Sends one byte as a datagram, which is lost for good where there is no way.
bool tell(const UniqueFd& from, std::uint32_t address, std::uint16_t port, char byte) {
    const sockaddr_in end = endpoint(address, port);
    return ::sendto(from.get(), &byte, 1, 0, reinterpret_cast<const sockaddr*>(&end), sizeof end) ==
           1;
}

bool one_that_is_cut_off_hears_nothing_and_is_not_heard() {
    PodNetwork network;
    const auto socket_in = [&](const std::unique_ptr<PodSandbox>& pod) {
        UniqueFd socket = network.inside(pod).open_socket(AF_INET, SOCK_DGRAM, 0).value();
        const sockaddr_in any = endpoint(INADDR_ANY, 0);
        if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&any), sizeof any) < 0)
            throw std::runtime_error("a pod can't bind");
        return socket;
    };
    // The kernel may take a moment to see that the pod's end of the cable is in again.
    const auto hears = [](const UniqueFd& by, const std::function<bool()>& say) {
        pollfd event{by.get(), POLLIN, 0};
        for (int tries = 0; tries < kLimitMs / 10; ++tries) {
            char byte = '-';
            if (!say()) return '!';
            if (::poll(&event, 1, 10) == 1) return ::read(by.get(), &byte, 1) == 1 ? byte : '!';
        }
        return '-';
    };
    const UniqueFd one = socket_in(network.one);
    const UniqueFd two = socket_in(network.two);
    if (!network.one->cut_off()) return false;
    // The sender notices nothing, as if a cable was pulled.
    if (!tell(two, PodNetwork::kOne, port_of(one), 'a')) return false;
    (void)tell(one, PodNetwork::kTwo, port_of(two), 'b');
    if (!network.one->reconnect()) return false;
    // The first that arrives is what was said afterwards.
    return hears(one, [&] { return tell(two, PodNetwork::kOne, port_of(one), 'c'); }) == 'c' &&
           hears(two, [&] { return tell(one, PodNetwork::kTwo, port_of(two), 'd'); }) == 'd';
}

bool a_connection_outlives_a_partition() {
    PodNetwork network;
    const UniqueFd listener = network.listen_in(network.one);
    const UniqueFd theirs =
        network.inside(network.two).open_socket(AF_INET, SOCK_STREAM, 0).value();
    if (connect_to(theirs, PodNetwork::kOne, port_of(listener)) != 0) return false;
    const UniqueFd accepted(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    char byte = 'x';
    if (!network.one->cut_off() || ::write(theirs.get(), &byte, 1) != 1) return false;
    pollfd event{accepted.get(), POLLIN, 0};
    if (::poll(&event, 1, 0) != 0 || !network.one->reconnect()) return false;
    return ::poll(&event, 1, kLimitMs) == 1 && ::read(accepted.get(), &byte, 1) == 1;
}

/// Of a process that is killed: its pod listens, and a successor that finds it is to reach it.
bool a_successor_reaches_pods() {
    std::string directory = "/tmp/muster-fabric-XXXXXX";
    if (::mkdtemp(directory.data()) == nullptr) return false;
    const std::filesystem::path socket = std::filesystem::path(directory) / "init";
    const pid_t earlier = ::fork();
    if (earlier == 0) {
        PodNetwork network;
        network.one.reset();
        network.one = network.start(PodNetwork::kOne, socket);
        ::raise(SIGKILL);
    }
    ::waitpid(earlier, nullptr, 0);
    RecoveredPod found = recover_pod(socket).value();
    UniqueFd router(::fcntl(found.network.get(), F_DUPFD_CLOEXEC, 0));
    PodNetwork network(std::move(router));
    network.one =
        PodSandbox::take_over(network.context.get_executor(), network.host, std::move(found));
    const UniqueFd listener = network.listen_in(network.one);
    const UniqueFd ours = network.fabric().open_socket().value();
    const UniqueFd theirs =
        network.inside(network.two).open_socket(AF_INET, SOCK_STREAM, 0).value();
    const bool reached =
        connect_to(ours, PodNetwork::kOne, port_of(listener)) == 0 && carries(ours, listener) &&
        connect_to(theirs, PodNetwork::kOne, port_of(listener)) == 0 && carries(theirs, listener);
    network.one->kill();
    std::filesystem::remove_all(directory);
    return reached;
}

/// In a child, as what it becomes can't be undone.
bool succeeds_apart(const std::function<bool()>& check) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(check() ? 0 : 1);
    int status = 0;
    return ::waitpid(child, &status, 0) == child && status == 0;
}

enum class User { kRoot, kNobody };

class PodNetworkTest : public ::testing::TestWithParam<User> {
  protected:
    void SetUp() override {
        if (::geteuid() != 0) GTEST_SKIP() << "namespaces are tested as root here";
        if (GetParam() == User::kNobody && !process::nobody_may_make_user_namespaces())
            GTEST_SKIP() << "ordinary users may not make user namespaces here";
    }
    static bool holds(bool (*check)()) {
        if (GetParam() == User::kRoot) return check();
        return succeeds_apart([check] { return process::become_nobody() && check(); });
    }
};

TEST_P(PodNetworkTest, WeReachPods) { EXPECT_TRUE(holds(we_reach_pods)); }

TEST_P(PodNetworkTest, ASuccessorReachesPodsThatItFinds) {
    EXPECT_TRUE(holds(a_successor_reaches_pods));
}

TEST_P(PodNetworkTest, OneThatIsCutOffHearsNothingAndIsNotHeard) {
    EXPECT_TRUE(holds(one_that_is_cut_off_hears_nothing_and_is_not_heard));
}

TEST_P(PodNetworkTest, AConnectionOutlivesAPartition) {
    EXPECT_TRUE(holds(a_connection_outlives_a_partition));
}

TEST_P(PodNetworkTest, PodsReachUs) { EXPECT_TRUE(holds(pods_reach_us)); }

TEST_P(PodNetworkTest, PodsReachEachOtherAndAllElseIsRefusedAtOnce) {
    EXPECT_TRUE(holds(pods_reach_each_other_and_nothing_else));
}

INSTANTIATE_TEST_SUITE_P(Users, PodNetworkTest, ::testing::Values(User::kRoot, User::kNobody));

class PodFabricTest : public ::testing::Test {
  protected:
    void SetUp() override {
        if (::geteuid() != 0) GTEST_SKIP() << "namespaces are tested as root here";
    }
};

TEST_F(PodFabricTest, PacketsMayBeAsLargeAsOnLoopback) {
    PodNetwork network;
    const UniqueFd socket =
        network.inside(network.one).open_socket(AF_INET, SOCK_STREAM, 0).value();
    ifreq request{};
    std::string_view("eth0").copy(request.ifr_name, IFNAMSIZ);
    ASSERT_EQ(::ioctl(socket.get(), SIOCGIFMTU, &request), 0);
    EXPECT_EQ(request.ifr_mtu, 65535);
}

TEST_F(PodFabricTest, AListenersPortThatIsTakenIsAnError) {
    PodFabric fabric = PodFabric::create().value();
    const UniqueFd first = fabric.open_listener(PodFabric::kGateway, 0).value();
    auto second = fabric.open_listener(PodFabric::kGateway, port_of(first));
    ASSERT_FALSE(second);
    EXPECT_NE(second.error().message().find("169.254.1.1"), std::string::npos);
}

}  // namespace
}  // namespace muster::runtime::pod_network_test
