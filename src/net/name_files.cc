#include "net/name_files.h"

#include <ares.h>
#include <arpa/inet.h>
#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>

#include "base/time/real_clock.h"

namespace muster::net {

namespace {

using Channel = std::unique_ptr<ares_channeldata, decltype(&ares_destroy)>;

constexpr int kRounds = 3;  ///< of asking all servers

Error unknown(std::string_view why) {
    return Error(Code::kUnavailable, fmt::format("the name is not known ({})", why));
}

Result<Channel> open_channel(const NameFiles& files) {
    std::string path = files.resolv_conf;
    std::string lookups = "fb";  // the hosts file, then DNS, whatever nsswitch.conf says
    ares_options options{};
    options.resolvconf_path = path.data();
    options.lookups = lookups.data();
    options.udp_port = options.tcp_port = files.port;
    options.timeout = static_cast<int>(files.first_try.count());
    options.tries = kRounds;
    ares_channeldata* opened = nullptr;
    const int status =
        ares_init_options(&opened, &options,
                          ARES_OPT_RESOLVCONF | ARES_OPT_LOOKUPS | ARES_OPT_UDP_PORT |
                              ARES_OPT_TCP_PORT | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES);
    if (status != ARES_SUCCESS) return unknown(ares_strerror(status));
    return Channel(opened, ares_destroy);
}

struct Answer {
    std::optional<int> status;
    std::vector<std::string> addresses;
};

std::optional<std::string> text_of(const sockaddr* address) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    const void* bytes = nullptr;
    if (address->sa_family == AF_INET)
        bytes = &reinterpret_cast<const sockaddr_in*>(address)->sin_addr;
    else if (address->sa_family == AF_INET6)
        bytes = &reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr;
    else
        return std::nullopt;
    if (::inet_ntop(address->sa_family, bytes, text.data(), text.size()) == nullptr)
        return std::nullopt;
    return text.data();
}

void take_answer(void* into, int status, int /*timeouts*/, ares_addrinfo* found) {
    auto& answer = *static_cast<Answer*>(into);
    answer.status = status;
    if (found == nullptr) return;
    for (const ares_addrinfo_node* node = found->nodes; node != nullptr; node = node->ai_next)
        if (auto text = text_of(node->ai_addr);
            text && std::ranges::find(answer.addresses, *text) == answer.addresses.end())
            answer.addresses.push_back(*std::move(text));
    ares_freeaddrinfo(found);
}

/// Until one of its sockets is ready, or one of its own deadlines has passed.
void wait_for(ares_channeldata* channel, Duration at_most) {
    std::array<ares_socket_t, ARES_GETSOCK_MAXNUM> sockets{};
    const int ready_for = ares_getsock(channel, sockets.data(), ARES_GETSOCK_MAXNUM);
    std::vector<pollfd> polled;
    for (unsigned i = 0; i < sockets.size(); ++i) {
        short events = 0;
        if (ARES_GETSOCK_READABLE(static_cast<unsigned>(ready_for), i)) events |= POLLIN;
        if (ARES_GETSOCK_WRITABLE(static_cast<unsigned>(ready_for), i)) events |= POLLOUT;
        if (events != 0) polled.push_back({.fd = sockets[i], .events = events, .revents = 0});
    }
    const auto most = std::chrono::ceil<std::chrono::microseconds>(at_most).count();
    timeval limit{.tv_sec = most / 1'000'000, .tv_usec = most % 1'000'000};
    timeval own{};
    const timeval* rest = ares_timeout(channel, &limit, &own);
    const auto wait = static_cast<int>(rest->tv_sec * 1000 + (rest->tv_usec + 999) / 1000);
    (void)::poll(polled.data(), polled.size(), wait);  // a failed poll is repeated
    for (const pollfd& one : polled)
        ares_process_fd(channel, (one.revents & ~POLLOUT) != 0 ? one.fd : ARES_SOCKET_BAD,
                        (one.revents & ~POLLIN) != 0 ? one.fd : ARES_SOCKET_BAD);
    ares_process_fd(channel, ARES_SOCKET_BAD, ARES_SOCKET_BAD);  // what timed out
}

}  // namespace

Result<std::vector<std::string>> addresses_by_files(const std::string& host,
                                                    const NameFiles& files) {
    Answer answer;  // outlives the channel, whose destruction may still write to it
    TRY(const Channel channel, open_channel(files));
    const RealClock clock;
    const Instant deadline = clock.now() + files.patience;
    ares_addrinfo_hints hints{};
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    ares_getaddrinfo(channel.get(), host.c_str(), nullptr, &hints, take_answer, &answer);
    while (!answer.status) {
        const Duration left = deadline - clock.now();
        if (left <= Duration::zero())
            return unknown(fmt::format("the servers of {} did not answer", files.resolv_conf));
        wait_for(channel.get(), left);
    }
    if (*answer.status != ARES_SUCCESS) return unknown(ares_strerror(*answer.status));
    if (answer.addresses.empty()) return unknown("it has no address");
    return std::move(answer.addresses);
}

}  // namespace muster::net
