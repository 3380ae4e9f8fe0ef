#include "muster_run/node/loopback_users.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/fields.h"
#include "base/parse_number.h"
#include "base/text_files.h"
#include "base/unique_fd.h"

namespace muster::run {
namespace {

/// As the kernel's tables number it.
constexpr std::uint8_t kOpen = TCP_ESTABLISHED;
/// Of a message.
constexpr std::size_t kHead = NLMSG_ALIGN(sizeof(nlmsghdr));

struct End {
    sa_family_t family = AF_INET;
    std::array<std::uint32_t, 4> address = {};  ///< in network order; of IPv4 the first one
    std::uint16_t port = 0;
};

std::optional<End> end_of(const std::string& host, std::uint16_t port) {
    End end{.port = port};
    if (::inet_pton(AF_INET, host.c_str(), end.address.data()) == 1) return end;
    end.family = AF_INET6;
    if (::inet_pton(AF_INET6, host.c_str(), end.address.data()) == 1) return end;
    return std::nullopt;
}

/// Where it came to: we have the same loopback address in each family.
End own_end(const End& other, std::uint16_t port) {
    End own{.family = other.family, .port = port};
    if (other.family == AF_INET)
        own.address[0] = htonl(INADDR_LOOPBACK);
    else
        own.address[3] = htonl(1);
    return own;
}

/// What the kernel says about one socket.
struct Owner {
    uid_t user = 0;
    std::uint8_t state = 0;
};

/// The answer is there when the question has been sent. nullopt: there is no such socket, or no
/// answer to such questions.
std::optional<Owner> ask(const End& own, const End& other) {
    const UniqueFd socket(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
    if (socket.get() < 0) return std::nullopt;
    struct {
        nlmsghdr head{};
        inet_diag_req_v2 what{};
    } question;
    question.head.nlmsg_len = sizeof question;
    question.head.nlmsg_type = SOCK_DIAG_BY_FAMILY;
    question.head.nlmsg_flags = NLM_F_REQUEST;
    question.what.sdiag_family = static_cast<std::uint8_t>(own.family);
    question.what.sdiag_protocol = IPPROTO_TCP;
    question.what.id.idiag_sport = htons(own.port);
    question.what.id.idiag_dport = htons(other.port);
    std::ranges::copy(own.address, question.what.id.idiag_src);
    std::ranges::copy(other.address, question.what.id.idiag_dst);
    question.what.id.idiag_cookie[0] = question.what.id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
    if (::send(socket.get(), &question, sizeof question, 0) != ssize_t{sizeof question})
        return std::nullopt;
    alignas(nlmsghdr) std::array<char, 4096> bytes{};
    const ssize_t size = ::recv(socket.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    nlmsghdr head{};
    inet_diag_msg about{};
    if (size < ssize_t{kHead + sizeof about}) return std::nullopt;
    std::memcpy(&head, bytes.data(), sizeof head);
    if (head.nlmsg_type != SOCK_DIAG_BY_FAMILY) return std::nullopt;
    std::memcpy(&about, bytes.data() + kHead, sizeof about);
    return Owner{.user = about.idiag_uid, .state = about.idiag_state};
}

/// As in the kernel's tables: the words of the address as numbers of this machine. In that of IPv6
/// are also sockets of both families.
std::string written(const End& end, bool in_table_of_ipv6) {
    std::string text;
    if (in_table_of_ipv6 && end.family == AF_INET)
        text = fmt::format("{:024X}", std::uint64_t{htonl(0xffff)});
    for (std::size_t i = 0; i < (end.family == AF_INET ? 1 : end.address.size()); ++i)
        text += fmt::format("{:08X}", end.address[i]);
    return text + fmt::format(":{:04X}", end.port);
}

std::optional<uid_t> look_up(const End& own, const End& other) {
    for (const bool of_ipv6 : {false, true}) {
        const auto table = read_text(of_ipv6 ? "/proc/net/tcp6" : "/proc/net/tcp");
        if (!table) continue;
        if (const auto user = user_in_table(*table, written(own, of_ipv6), written(other, of_ipv6)))
            return user;
    }
    return std::nullopt;
}

}  // namespace

LoopbackUsers::LoopbackUsers(std::uint16_t port) : port_(port) {
    const End own = own_end(End{}, port);
    const auto listening = ask(own, End{});
    if (listening && listening->user == ::geteuid())
        source_ = Source::kQuestion;
    else if (const auto table = read_text("/proc/net/tcp");
             table && table->find(written(own, false)) != std::string::npos)
        source_ = Source::kTable;
}

std::optional<uid_t> LoopbackUsers::user_at(const std::string& host, std::uint16_t port) const {
    const auto other = end_of(host, port);
    if (!other) return std::nullopt;
    const End own = own_end(*other, port_);
    if (source_ == Source::kTable) return look_up(*other, own);
    // A socket that its process has closed counts as root's; it is not open any more.
    const auto owner = ask(*other, own);
    if (!owner || owner->state != kOpen) return std::nullopt;
    return owner->user;
}

std::optional<uid_t> user_in_table(std::string_view table, std::string_view local,
                                   std::string_view remote) {
    while (!table.empty()) {
        std::string_view line = take_field(table, '\n');
        // sl local_address rem_address st tx_queue:rx_queue tr:tm->when retrnsmt uid
        std::array<std::string_view, 8> words;
        for (std::string_view& word : words) {
            line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
            word = take_field(line, ' ');
        }
        if (words[1] != local || words[2] != remote || words[3] != "01") continue;
        return parse_number<uid_t>(words[7]);
    }
    return std::nullopt;
}

}  // namespace muster::run
