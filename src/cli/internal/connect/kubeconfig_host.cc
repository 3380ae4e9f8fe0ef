#include "cli/internal/connect/kubeconfig_host.h"

#include <fmt/format.h>

namespace muster::cli {

Result<std::string> with_host(std::string text, std::string_view host) {
    constexpr std::string_view kOfHosts =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-:";
    if (host.empty() || host.find_first_not_of(kOfHosts) != std::string_view::npos)
        return Error(Code::kInvalid,
                     fmt::format("--host wants a name or an address without a port, such as node0 "
                                 "or 192.0.2.7, not \"{}\"",
                                 host));
    constexpr std::string_view kScheme = "https://";
    const std::size_t field = text.find("server:");
    const std::size_t scheme = field == text.npos ? text.npos : text.find(kScheme, field);
    if (scheme == text.npos) return Error(Code::kInvalid, "the kubeconfig names no server");
    const std::size_t begin = scheme + kScheme.size();
    // Only the address of a server in brackets has colons itself.
    const bool bracketed = begin < text.size() && text[begin] == '[';
    const std::size_t end = bracketed ? text.find(']', begin) + 1 : text.find(':', begin);
    if (end == text.npos || end == 0)
        return Error(Code::kInvalid, "the kubeconfig's server has no port");
    const bool v6 = host.find(':') != std::string_view::npos;
    text.replace(begin, end - begin, v6 ? fmt::format("[{}]", host) : std::string(host));
    return text;
}

}  // namespace muster::cli
