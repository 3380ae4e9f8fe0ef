#include "muster_run/node/node_facts.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <memory>
#include <ranges>
#include <string_view>
#include <system_error>

#include "base/unique_fd.h"

namespace muster::run {
namespace {

namespace fs = std::filesystem;

int cpus() {
    cpu_set_t mask;
    CPU_ZERO(&mask);
    if (sched_getaffinity(0, sizeof mask, &mask) != 0) return 1;
    return std::max(1, CPU_COUNT(&mask));
}

/// /dev/nvidia0, /dev/nvidia1, and so on.
int nvidia_devices() {
    std::error_code error;
    int count = 0;
    for (const fs::directory_entry& entry : fs::directory_iterator("/dev", error)) {
        const std::string file = entry.path().filename();
        if (!file.starts_with("nvidia")) continue;
        const std::string_view name = std::string_view(file).substr(6);
        if (!name.empty() && std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; }))
            ++count;
    }
    return count;
}

int listed(std::string_view list) {
    if (list.empty() || list == "-1" || list == "NoDevFiles") return 0;
    return static_cast<int>(std::ranges::count(list, ',')) + 1;
}

bool can_be_executed(const fs::path& path) {
    std::error_code error;
    return fs::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0;
}

std::string text_of(const sockaddr& address, socklen_t size) {
    std::array<char, NI_MAXHOST> text{};
    if (getnameinfo(&address, size, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST) != 0)
        return {};
    return text.data();
}

}  // namespace

bool stands_for_python(const std::string& path) {
    constexpr std::string_view kStart = "muster-start";
    std::error_code error;
    return fs::path(path).filename() != kStart && fs::canonical(path, error).filename() == kStart;
}

launch::Devices devices_here(const launch::Variables& variables) {
    launch::Devices found;
    found.cpus = cpus();
    found.gpus = nvidia_devices();
    if (const std::string* visible = launch::find_variable(variables, "CUDA_VISIBLE_DEVICES"))
        found.gpus = std::min(found.gpus, listed(*visible));
    return found;
}

std::string find_in_path(std::span<const std::string_view> names,
                         const launch::Variables& variables) {
    const std::string* path = launch::find_variable(variables, "PATH");
    const std::string_view folders =
        path == nullptr ? std::string_view("/usr/local/bin:/usr/bin:/bin") : *path;
    for (const auto part : folders | std::views::split(':')) {
        const std::string_view text(part);
        const fs::path folder = text.empty() ? std::string_view(".") : text;
        for (const std::string_view name : names)
            if (can_be_executed(folder / name) && !stands_for_python(folder / name))
                return folder / name;
    }
    return {};
}

std::string python_here(const launch::Variables& variables) {
    return find_in_path(launch::kPythonNames, variables);
}

launch::FileFacts facts_of(const launch::FileToCheck& file, const launch::Variables& variables) {
    fs::path path = file.path;
    if (file.in_path) {
        const std::string_view name = file.path;
        path = find_in_path({&name, 1}, variables);
        if (path.empty()) return {};
    }
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    launch::FileFacts facts;
    facts.exists = fs::exists(status);
    facts.is_directory = fs::is_directory(status);
    facts.has_main = facts.is_directory && fs::exists(path / "__main__.py", error);
    facts.readable = access(path.c_str(), R_OK) == 0;
    facts.executable = can_be_executed(path);
    return facts;
}

int input_here() {
    if (::fcntl(STDIN_FILENO, F_GETFD) < 0) return -1;
    const pid_t in_front = ::tcgetpgrp(STDIN_FILENO);
    // Workers are in sessions of their own, so that no terminal would stop them.
    return in_front < 0 || in_front == ::getpgrp() ? STDIN_FILENO : -1;
}

launch::NodeNames names_here() {
    launch::NodeNames names;
    std::array<char, 256> host{};
    if (gethostname(host.data(), host.size() - 1) == 0 && host.front() != '\0') {
        const std::string name(host.data());
        names.names.push_back(name);
        if (const auto dot = name.find('.'); dot != std::string::npos)
            names.names.push_back(name.substr(0, dot));
    }
    ifaddrs* first = nullptr;
    if (getifaddrs(&first) != 0) return names;
    const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(first, freeifaddrs);
    for (const ifaddrs* one = first; one != nullptr; one = one->ifa_next) {
        if (one->ifa_addr == nullptr || (one->ifa_flags & IFF_UP) == 0) continue;
        const int family = one->ifa_addr->sa_family;
        if (family != AF_INET && family != AF_INET6) continue;
        std::string text =
            text_of(*one->ifa_addr, family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6));
        // With a zone it means something on this machine alone.
        if (!text.empty() && text.find('%') == std::string::npos)
            names.addresses.push_back(std::move(text));
    }
    return names;
}

std::string address_towards(const std::string& address) {
    addrinfo hints{};
    hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
    hints.ai_socktype = SOCK_DGRAM;
    addrinfo* found = nullptr;
    if (getaddrinfo(address.c_str(), "9", &hints, &found) != 0) return {};
    const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, freeaddrinfo);
    const UniqueFd socket(::socket(found->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    if (socket.get() < 0 || connect(socket.get(), found->ai_addr, found->ai_addrlen) != 0)
        return {};
    sockaddr_storage own{};
    socklen_t size = sizeof own;
    if (getsockname(socket.get(), reinterpret_cast<sockaddr*>(&own), &size) != 0) return {};
    return text_of(reinterpret_cast<const sockaddr&>(own), size);
}

}  // namespace muster::run
