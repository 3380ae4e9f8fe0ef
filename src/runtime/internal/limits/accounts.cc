#include "runtime/internal/limits/accounts.h"

#include <charconv>

#include "base/fields.h"

namespace muster::runtime {

namespace {

std::optional<std::uint32_t> number(std::string_view text) {
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

}  // namespace

std::optional<Account> find_account(std::string_view passwd, std::string_view group,
                                    std::uint32_t uid) {
    Account account;
    bool found = false;
    while (!passwd.empty() && !found) {
        std::string_view line = take_field(passwd, '\n');
        account.name = take_field(line, ':');
        take_field(line, ':');  // the password
        const auto user = number(take_field(line, ':'));
        const auto primary = number(take_field(line, ':'));
        take_field(line, ':');  // the person's name
        account.home = take_field(line, ':');
        account.gid = primary.value_or(0);
        found = user == uid && primary && !account.name.empty();
    }
    if (!found) return std::nullopt;
    while (!group.empty()) {
        std::string_view line = take_field(group, '\n');
        take_field(line, ':');
        take_field(line, ':');
        const auto gid = number(take_field(line, ':'));
        while (gid && !line.empty())
            if (take_field(line, ',') == account.name && *gid != account.gid)
                account.groups.push_back(*gid);
    }
    return account;
}

}  // namespace muster::runtime
