#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "runtime/internal/bench/sandbox_bench.h"

namespace muster::runtime::bench {

namespace {

constexpr std::uint16_t kPort = 23456;

sockaddr_in endpoint(std::uint32_t address, std::uint16_t port) {
    sockaddr_in end{};
    end.sin_family = AF_INET;
    end.sin_port = htons(port);
    end.sin_addr.s_addr = htonl(address);
    return end;
}

UniqueFd socket_in(BenchPod& pod) {
    const auto inside = must(pod.sandbox->network(), "a pod's network");
    return must(inside.open_socket(AF_INET, SOCK_STREAM, 0), "a socket in a pod");
}

void listen_at(const UniqueFd& socket, std::uint16_t port) {
    const sockaddr_in any = endpoint(INADDR_ANY, port);
    if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&any), sizeof any) < 0 ||
        ::listen(socket.get(), SOMAXCONN) < 0)
        die(std::string("listening in a pod: ") + std::strerror(errno));
}

void connect_to(const UniqueFd& socket, std::uint32_t address, std::uint16_t port) {
    const sockaddr_in end = endpoint(address, port);
    if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&end), sizeof end) < 0)
        die(std::string("connecting to a pod: ") + std::strerror(errno));
}

/// Between cores a round trip is mostly the time to wake the other one, and it depends on chance
/// which two are used; on one core it is the cost of the path.
void stay_on(std::size_t cores) {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (std::size_t core = 0; core < cores; ++core) CPU_SET(core, &set);
    ::sched_setaffinity(0, sizeof set, &set);
}

/// A process that sends back what it receives; `bulk` bytes are answered by only one, once all have
/// arrived.
class Echo {
  public:
    explicit Echo(UniqueFd listener) : listener_(std::move(listener)), process_(::fork()) {
        if (process_ != 0) return;
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        run();
    }
    ~Echo() {
        ::kill(process_, SIGKILL);
        ::waitpid(process_, nullptr, 0);
    }
    Echo(const Echo&) = delete;
    Echo& operator=(const Echo&) = delete;

  private:
    [[noreturn]] void run() {
        for (;;) {
            const UniqueFd peer(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
            if (!peer) ::_exit(1);
            const int on = 1;
            ::setsockopt(peer.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
            std::vector<char> buffer(1 << 20);
            std::size_t bulk = 0;
            if (::read(peer.get(), &bulk, sizeof bulk) != sizeof bulk) continue;
            stay_on(bulk == 0 ? 1 : CPU_SETSIZE);
            std::size_t come = 0;
            for (ssize_t size = 0; (size = ::read(peer.get(), buffer.data(), buffer.size())) > 0;) {
                come += static_cast<std::size_t>(size);
                if (bulk == 0)
                    (void)!::write(peer.get(), buffer.data(), static_cast<std::size_t>(size));
                else if (come == bulk)
                    (void)!::write(peer.get(), buffer.data(), 1);
            }
        }
    }

    UniqueFd listener_;
    pid_t process_;
};

/// Median of a byte there and back.
double round_trip(const UniqueFd& socket) {
    stay_on(1);
    const std::size_t bulk = 0;
    const int on = 1;
    ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    (void)!::write(socket.get(), &bulk, sizeof bulk);
    std::vector<double> times;
    for (int i = 0; i < 10'000; ++i) {
        char byte = 0;
        times.push_back(timed([&] {
                            if (::write(socket.get(), &byte, 1) != 1 ||
                                ::read(socket.get(), &byte, 1) != 1)
                                die("a connection between pods broke");
                        }).count());
    }
    std::ranges::nth_element(times, times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2));
    return times[times.size() / 2];
}

/// Bytes per second of one stream.
double bandwidth(const UniqueFd& socket) {
    stay_on(CPU_SETSIZE);
    constexpr std::size_t kBulk = std::size_t{1} << 30;
    (void)!::write(socket.get(), &kBulk, sizeof kBulk);
    const std::vector<char> buffer(1 << 18);
    const Seconds time = timed([&] {
        for (std::size_t left = kBulk; left > 0;) {
            const ssize_t size =
                ::write(socket.get(), buffer.data(), std::min(left, buffer.size()));
            if (size < 0) die("a connection between pods broke");
            left -= static_cast<std::size_t>(size);
        }
        char byte = 0;
        (void)!::read(socket.get(), &byte, 1);
    });
    return static_cast<double>(kBulk) / time.count();
}

}  // namespace

/// Each pod connects to the one before it as soon as it runs; all connections stay.
void first_connect(int count) {
    PodWorld world;
    UniqueFd before;
    double longest = 0;
    world.start(1, {"/bin/sleep", "1000"});
    before = socket_in(world.pods.back());
    listen_at(before, kPort);
    std::vector<UniqueFd> listeners;
    for (int i = 1; i < count; ++i) {
        world.start(1, {"/bin/sleep", "1000"});
        BenchPod& pod = world.pods.back();
        const std::uint32_t other = world.pods[world.pods.size() - 2].address;
        const UniqueFd socket = socket_in(pod);
        longest = std::max(longest, timed([&] { connect_to(socket, other, kPort); }).count());
        listeners.push_back(socket_in(pod));
        listen_at(listeners.back(), kPort);
    }
    report("longest", longest);
    // And once more, from the first to each: all still exist.
    for (std::size_t i = 1; i < world.pods.size(); ++i)
        connect_to(socket_in(world.pods.front()), world.pods[i].address, kPort);
    listeners.clear();
    report("end", timed([&] { world.end(); }).count());
}

/// Between two pods and over loopback, alternating: a machine's speed drifts.
void network(int rounds) {
    PodWorld world;
    world.start(2, {});
    UniqueFd listener = socket_in(world.pods[0]);
    listen_at(listener, kPort);
    const Echo pod_echo(std::move(listener));
    UniqueFd own(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    listen_at(own, 0);
    sockaddr_in bound{};
    socklen_t size = sizeof bound;
    ::getsockname(own.get(), reinterpret_cast<sockaddr*>(&bound), &size);
    const Echo own_echo(std::move(own));

    const auto between_pods = [&] {
        UniqueFd socket = socket_in(world.pods[1]);
        connect_to(socket, world.pods[0].address, kPort);
        return socket;
    };
    const auto on_loopback = [&] {
        UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        connect_to(socket, INADDR_LOOPBACK, ntohs(bound.sin_port));
        return socket;
    };
    for (int i = 0; i < rounds; ++i) {
        report("pods rtt", round_trip(between_pods()));
        report("loopback rtt", round_trip(on_loopback()));
        report("pods bandwidth", bandwidth(between_pods()));
        report("loopback bandwidth", bandwidth(on_loopback()));
    }
}

}  // namespace muster::runtime::bench
