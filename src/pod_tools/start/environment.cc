#include "pod_tools/start/environment.h"

#include <algorithm>

namespace muster::pod_tools {

namespace {

bool has_name(std::string_view entry, std::string_view name) {
    return entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=';
}

}  // namespace

std::optional<std::string_view> variable(const Environment& environment, std::string_view name) {
    for (const std::string_view entry : environment)
        if (has_name(entry, name)) return entry.substr(name.size() + 1);
    return std::nullopt;
}

void set_variable(Environment& environment, std::string_view name, std::string_view value) {
    std::string entry(name);
    entry += '=';
    entry += value;
    const auto found = std::ranges::find_if(
        environment, [&](std::string_view one) { return has_name(one, name); });
    if (found == environment.end())
        environment.push_back(std::move(entry));
    else
        *found = std::move(entry);
}

void remove_variable(Environment& environment, std::string_view name) {
    std::erase_if(environment, [&](std::string_view one) { return has_name(one, name); });
}

}  // namespace muster::pod_tools
