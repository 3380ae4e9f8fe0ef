#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::runtime {

/// What the machine's account files say about one user.
struct Account {
    std::string name;
    std::uint32_t gid = 0;
    std::string home;
    std::vector<std::uint32_t> groups;  ///< besides gid

    friend bool operator==(const Account&, const Account&) = default;
};

/// From the content of /etc/passwd and /etc/group, where a container runtime looks up a numeric
/// user: only in the files. nullopt if there is no such user.
std::optional<Account> find_account(std::string_view passwd, std::string_view group,
                                    std::uint32_t uid);

}  // namespace muster::runtime
