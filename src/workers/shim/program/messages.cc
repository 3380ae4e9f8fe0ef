#include "workers/shim/program/messages.h"

#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace muster::workers {

std::optional<ShimOrder> read_order(int file) {
    struct stat info{};
    std::optional<ShimOrder> order;
    if (::fstat(file, &info) == 0 && info.st_size > 0) {
        const auto size = static_cast<std::size_t>(info.st_size);
        void* const bytes = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
        if (bytes != MAP_FAILED) {
            order = decode_order({static_cast<const char*>(bytes), size});
            ::munmap(bytes, size);
        }
    }
    ::close(file);
    return order;
}

ReceivedRequest receive_request(int from) {
    ReceivedRequest received;
    iovec part{&received.request, sizeof received.request};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    received.size = ::recvmsg(from, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (received.size < 0) return received;
    const cmsghdr* const header = CMSG_FIRSTHDR(&message);
    if (header != nullptr && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS &&
        header->cmsg_len == CMSG_LEN(sizeof(int)))
        std::memcpy(&received.file, CMSG_DATA(header), sizeof(int));
    return received;
}

bool send_report(int to, const ShimReport& report, std::span<const int> fds) {
    iovec part{const_cast<ShimReport*>(&report), sizeof report};
    alignas(cmsghdr) char control[CMSG_SPACE(2 * sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    if (!fds.empty()) {
        message.msg_control = control;
        message.msg_controllen = CMSG_SPACE(fds.size_bytes());
        cmsghdr* const header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(fds.size_bytes());
        std::memcpy(CMSG_DATA(header), fds.data(), fds.size_bytes());
    }
    while (::sendmsg(to, &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
        if (errno != EINTR) return false;
    return true;
}

bool is_of_our_user(int connection) {
    ucred peer{};
    socklen_t size = sizeof peer;
    return ::getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
           (peer.uid == ::geteuid() || peer.uid == 0);
}

}  // namespace muster::workers
