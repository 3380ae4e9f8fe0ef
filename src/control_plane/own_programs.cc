#include "control_plane/own_programs.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

#include "base/fields.h"
#include "control_plane/machine.h"

namespace muster::control_plane {

namespace fs = std::filesystem;

namespace {

constexpr const char* kAgent = "muster-run";

/// Replaces what another build or another place left there. Empty: there is no link.
fs::path directory_with_link(const fs::path& directory, const fs::path& program,
                             MissingLink missing) {
    std::error_code failed;
    if (fs::read_symlink(directory / kAgent, failed) == program) return directory;
    if (missing == MissingLink::kLeave) return {};
    // ~/.muster is the state directory of `muster up`, too: it is its user's alone.
    for (const fs::path& made : {directory.parent_path(), directory}) ::mkdir(made.c_str(), 0700);
    const fs::path fresh = directory / (std::string(kAgent) + "." + std::to_string(::getpid()));
    fs::create_symlink(program, fresh, failed);
    if (failed) return {};
    fs::rename(fresh, directory / kAgent, failed);
    if (!failed) return directory;
    fs::remove(fresh, failed);
    return {};
}

bool has_entry(std::string_view path, std::string_view entry) {
    while (!path.empty())
        if (take_field(path, ':') == entry) return true;
    return false;
}

}  // namespace

Caller with_own_programs(Caller caller, MissingLink missing) {
    const fs::path program = own_program();
    fs::path directory = program.parent_path();
    std::error_code failed;
    if (!fs::exists(directory / kAgent, failed)) {
        const std::string home = caller.home();
        directory = home.empty()
                        ? fs::path()
                        : directory_with_link(fs::path(home) / ".muster" / "bin", program, missing);
    }
    if (directory.empty() || has_entry(caller.variable("PATH"), directory.native())) return caller;
    for (std::string& entry : caller.environment) {
        if (!entry.starts_with("PATH=")) continue;
        entry += entry == "PATH=" ? "" : ":";
        entry += directory.native();
        return caller;
    }
    caller.environment.push_back("PATH=/usr/local/bin:/usr/bin:/bin:" + directory.native());
    return caller;
}

}  // namespace muster::control_plane
