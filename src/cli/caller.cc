#include "cli/caller.h"

#include <unistd.h>

#include <filesystem>

namespace muster::cli {

std::string Caller::variable(const std::string& name) const {
    std::string prefix = name + "=";
    for (const std::string& entry : environment)
        if (entry.starts_with(prefix)) return entry.substr(prefix.size());
    return {};
}

Caller current_caller() {
    Caller caller;
    std::error_code ignored;
    caller.working_dir = std::filesystem::current_path(ignored).string();
    if (caller.working_dir.empty()) caller.working_dir = "/";
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry)
        caller.environment.emplace_back(*entry);
    return caller;
}

}  // namespace muster::cli
