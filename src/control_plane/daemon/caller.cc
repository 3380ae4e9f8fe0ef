#include "control_plane/daemon/caller.h"

#include <pwd.h>
#include <unistd.h>

#include <filesystem>

#include "kube/client_config/environment.h"

namespace muster::control_plane {

std::string Caller::variable(const std::string& name) const {
    return kube::variable_of(environment, name);
}

std::string Caller::home() const {
    for (const std::string& home : {variable("HOME"), user_home})
        if (home.starts_with('/')) return home;
    return "/";
}

Caller current_caller() {
    Caller caller;
    std::error_code ignored;
    caller.working_dir = std::filesystem::current_path(ignored).string();
    if (caller.working_dir.empty()) caller.working_dir = "/";
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry)
        caller.environment.emplace_back(*entry);
    passwd entry{};
    passwd* found = nullptr;
    std::vector<char> text(16384);
    if (::getpwuid_r(::geteuid(), &entry, text.data(), text.size(), &found) == 0 &&
        found != nullptr)
        caller.user_home = found->pw_dir;
    return caller;
}

}  // namespace muster::control_plane
