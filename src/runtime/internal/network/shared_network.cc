#include "runtime/internal/network/shared_network.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstddef>
#include <string_view>

namespace muster::runtime {

Result<UniqueFd> claim_shared_network() {
    UniqueFd claim(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!claim) return system_error("making a Unix socket", errno);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    // After a zero byte, which makes the name abstract.
    constexpr std::string_view kName = "muster-shared-network";
    kName.copy(address.sun_path + 1, kName.size());
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + kName.size());
    if (::bind(claim.get(), reinterpret_cast<const sockaddr*>(&address), size) == 0) return claim;
    if (errno != EADDRINUSE) return system_error("claiming the shared network", errno);
    return Error(
        Code::kUnavailable,
        "another muster runs pods on this machine's network, where its jobs and ours could use the "
        "same ports: wait until it has ended, or give pods networks of their own "
        "(--sandbox namespaces)");
}

}  // namespace muster::runtime
