#include "runtime/internal/limits/accounts.h"

#include <charconv>

namespace muster::runtime {

namespace {

std::string_view take(std::string_view& text, char separator) {
    const std::size_t end = text.find(separator);
    const std::string_view taken = text.substr(0, end);
    text = end == text.npos ? std::string_view() : text.substr(end + 1);
    return taken;
}

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
        std::string_view line = take(passwd, '\n');
        account.name = take(line, ':');
        take(line, ':');  // the password
        const auto user = number(take(line, ':'));
        const auto primary = number(take(line, ':'));
        take(line, ':');  // the person's name
        account.home = take(line, ':');
        account.gid = primary.value_or(0);
        found = user == uid && primary && !account.name.empty();
    }
    if (!found) return std::nullopt;
    while (!group.empty()) {
        std::string_view line = take(group, '\n');
        take(line, ':');
        take(line, ':');
        const auto gid = number(take(line, ':'));
        while (gid && !line.empty())
            if (take(line, ',') == account.name && *gid != account.gid)
                account.groups.push_back(*gid);
    }
    return account;
}

}  // namespace muster::runtime
