#include "pod_init/netlink/rtnetlink.h"

#include <arpa/inet.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace muster::pod_init {

namespace {
std::size_t aligned(std::size_t size) { return NLMSG_ALIGN(size); }
}  // namespace

void NetlinkBatch::open(std::string label, std::uint16_t type, std::uint16_t flags, Answer answer) {
    entries_.push_back({std::move(label), answer});
    bytes_.resize(aligned(bytes_.size()));
    message_start_ = bytes_.size();
    nlmsghdr header{};
    header.nlmsg_len = sizeof header;
    header.nlmsg_type = type;
    header.nlmsg_flags = static_cast<std::uint16_t>(flags | NLM_F_REQUEST |
                                                    (answer == Answer::kRefusal ? 0 : NLM_F_ACK));
    header.nlmsg_seq = static_cast<std::uint32_t>(entries_.size());
    append(&header, sizeof header);
}

void NetlinkBatch::append(const void* data, std::size_t size) {
    const char* from = static_cast<const char*>(data);
    bytes_.insert(bytes_.end(), from, from + size);
    bytes_.resize(aligned(bytes_.size()));
    auto length = static_cast<std::uint32_t>(bytes_.size() - message_start_);
    std::memcpy(bytes_.data() + message_start_, &length, sizeof length);
}

void NetlinkBatch::attribute(std::uint16_t type, std::string_view bytes) {
    rtattr header{};
    header.rta_len = static_cast<std::uint16_t>(sizeof header + bytes.size());
    header.rta_type = type;
    append(&header, sizeof header);
    append(bytes.data(), bytes.size());
}

void NetlinkBatch::text(std::uint16_t type, std::string_view value) {
    std::string terminated(value);
    terminated.push_back('\0');
    attribute(type, terminated);
}

void NetlinkBatch::u32(std::uint16_t type, std::uint32_t value) {
    attribute(type, {reinterpret_cast<const char*>(&value), sizeof value});
}

void NetlinkBatch::u8(std::uint16_t type, std::uint8_t value) {
    attribute(type, {reinterpret_cast<const char*>(&value), sizeof value});
}

void NetlinkBatch::address(std::uint16_t type, std::uint32_t host_order) {
    u32(type, htonl(host_order));
}

std::size_t NetlinkBatch::begin_nest(std::uint16_t type) {
    std::size_t start = bytes_.size();
    attribute(type, {});
    return start;
}

void NetlinkBatch::end_nest(std::size_t nest) {
    auto length = static_cast<std::uint16_t>(bytes_.size() - nest);
    std::memcpy(bytes_.data() + nest, &length, sizeof length);
}

Result<NetlinkSocket> NetlinkSocket::open() {
    UniqueFd fd(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
    if (!fd) return system_error("opening a route netlink socket", errno);
    return adopt(std::move(fd));
}

Result<NetlinkSocket> NetlinkSocket::adopt(UniqueFd fd) {
    sockaddr_nl address{};
    address.nl_family = AF_NETLINK;
    if (::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) < 0)
        return system_error("binding a route netlink socket", errno);
    return NetlinkSocket(std::move(fd));
}

Result<void> NetlinkSocket::execute(NetlinkBatch& batch) {
    sockaddr_nl kernel{};
    kernel.nl_family = AF_NETLINK;
    if (::sendto(fd_.get(), batch.bytes_.data(), batch.bytes_.size(), 0,
                 reinterpret_cast<sockaddr*>(&kernel), sizeof kernel) < 0)
        return system_error("sending to the kernel by netlink", errno);

    std::optional<Error> refused;
    auto unanswered = static_cast<std::size_t>(
        std::ranges::count_if(batch.entries_, [](const NetlinkBatch::Entry& entry) {
            return entry.answer != NetlinkBatch::Answer::kRefusal;
        }));
    alignas(nlmsghdr) std::array<char, 32768> buffer;
    while (unanswered > 0) {
        ssize_t size = ::recv(fd_.get(), buffer.data(), buffer.size(), 0);
        if (size < 0) {
            if (errno == EINTR) continue;
            return system_error("reading the kernel's netlink answer", errno);
        }
        auto left = static_cast<std::uint32_t>(size);
        auto* header = reinterpret_cast<nlmsghdr*>(buffer.data());
        for (; NLMSG_OK(header, left); header = NLMSG_NEXT(header, left)) {
            if (header->nlmsg_type != NLMSG_ERROR) continue;
            nlmsgerr answer{};
            std::memcpy(&answer, NLMSG_DATA(header), sizeof answer);
            const std::size_t index = header->nlmsg_seq - 1;
            if (index >= batch.entries_.size()) continue;
            const NetlinkBatch::Entry& entry = batch.entries_[index];
            if (entry.answer == NetlinkBatch::Answer::kRefusal)
                return system_error(entry.label, -answer.error);
            --unanswered;
            if (answer.error != 0 && !refused && entry.answer == NetlinkBatch::Answer::kWanted)
                refused = system_error(entry.label, -answer.error);
        }
    }
    if (refused) return *std::move(refused);
    return {};
}

}  // namespace muster::pod_init
