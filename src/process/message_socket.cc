#include "process/message_socket.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace muster::process {

Result<std::pair<UniqueFd, UniqueFd>> make_message_pair() {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) < 0)
        return system_error("socketpair", errno);
    return std::pair{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

Result<bool> send_message(int socket, std::string_view bytes, std::span<const int> fds, int flags) {
    iovec part{const_cast<char*>(bytes.data()), bytes.size()};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * kMaxMessageFds)> control{};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    if (!fds.empty()) {
        message.msg_control = control.data();
        message.msg_controllen = CMSG_SPACE(fds.size_bytes());
        cmsghdr* header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(fds.size_bytes());
        std::memcpy(CMSG_DATA(header), fds.data(), fds.size_bytes());
    }
    while (::sendmsg(socket, &message, flags | MSG_NOSIGNAL) < 0) {
        if (errno == EAGAIN) return false;
        if (errno != EINTR) return system_error("sending a message to another process", errno);
    }
    return true;
}

Result<Message> receive_message(int socket, int flags) {
    std::array<char, kMaxMessage> buffer;
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * kMaxMessageFds)> control{};
    iovec part{buffer.data(), buffer.size()};
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = control.data();
    header.msg_controllen = control.size();
    ssize_t size = 0;
    while ((size = ::recvmsg(socket, &header, flags | MSG_CMSG_CLOEXEC)) < 0) {
        // Reported once if the other end closed without having read everything; what it sent before
        // is still to come.
        if (errno == ECONNRESET) continue;
        if (errno == EAGAIN) return Message{.bytes = {}, .fds = {}, .nothing_yet = true};
        if (errno != EINTR) return system_error("receiving a message from another process", errno);
    }
    Message message;
    message.bytes.assign(buffer.data(), static_cast<std::size_t>(size));
    for (cmsghdr* c = CMSG_FIRSTHDR(&header); c != nullptr; c = CMSG_NXTHDR(&header, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
        std::size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (std::size_t i = 0; i < count; ++i) {
            int fd = -1;
            std::memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof fd);
            message.fds.emplace_back(fd);
        }
    }
    return message;
}

}  // namespace muster::process
