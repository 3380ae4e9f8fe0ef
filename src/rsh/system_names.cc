#include <fmt/format.h>
#include <netdb.h>

#include <array>

#include "rsh/client.h"

// In its own file, because a static program must not link it.

namespace muster::rsh {

Result<std::vector<std::string>> resolve_by_system(const std::string& host) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    if (const int failed = ::getaddrinfo(host.c_str(), nullptr, &hints, &found); failed != 0)
        return Error(Code::kUnavailable,
                     fmt::format("the name is not known ({})", ::gai_strerror(failed)));
    std::vector<std::string> addresses;
    for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
        std::array<char, NI_MAXHOST> text{};
        if (::getnameinfo(one->ai_addr, one->ai_addrlen, text.data(), text.size(), nullptr, 0,
                          NI_NUMERICHOST) == 0)
            addresses.emplace_back(text.data());
    }
    ::freeaddrinfo(found);
    return addresses;
}

}  // namespace muster::rsh
