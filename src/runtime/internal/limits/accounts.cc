#include "runtime/internal/limits/accounts.h"

#include "base/fields.h"
#include "base/parse_number.h"

namespace muster::runtime {

std::optional<Account> find_account(std::string_view passwd, std::string_view group,
                                    std::uint32_t uid) {
    Account account;
    bool found = false;
    while (!passwd.empty() && !found) {
        std::string_view line = take_field(passwd, '\n');
        account.name = take_field(line, ':');
        take_field(line, ':');  // the password
        const auto user = parse_number<std::uint32_t>(take_field(line, ':'));
        const auto primary = parse_number<std::uint32_t>(take_field(line, ':'));
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
        const auto gid = parse_number<std::uint32_t>(take_field(line, ':'));
        while (gid && !line.empty())
            if (take_field(line, ',') == account.name && *gid != account.gid)
                account.groups.push_back(*gid);
    }
    return account;
}

}  // namespace muster::runtime
