#include "cli/internal/server_verbs/up_introduction.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>

#include "base/shell_word.h"
#include "cli/internal/connect/kubeconfig_places.h"
#include "cli/internal/server_verbs/up_mappings.h"
#include "manifest/read_files.h"

namespace muster::cli {

namespace {

std::filesystem::path default_kubeconfig(const control_plane::Caller& caller) {
    // Read as clients read it: a list, in which empty entries are ignored.
    std::filesystem::path file = kubeconfig_places("", caller).files.front();
    std::error_code failed;
    // A link is kept: its target is changed.
    const std::filesystem::path real = std::filesystem::canonical(file, failed);
    return failed ? file : real;
}

Result<std::string> merged(const std::filesystem::path& theirs,
                           const control_plane::KubeAccess& access) {
    std::error_code missing;
    std::string existing;
    if (std::filesystem::exists(theirs, missing)) {
        Result<std::string> before = manifest::read_file(theirs.string());
        if (!before) return Error(before.error()).prefix(theirs.string());
        existing = *std::move(before);
    }
    const std::filesystem::path directory = theirs.parent_path();
    if (std::filesystem::exists(directory, missing) && ::access(directory.c_str(), W_OK) < 0)
        return system_error(fmt::format("--merge-kubeconfig can't write to {}", directory.string()),
                            errno);
    Result<std::string> made = control_plane::merge_kubeconfig(existing, access);
    if (!made)
        made.error().prefix(fmt::format(
            "--merge-kubeconfig can't add to {}, which was left as it is", theirs.string()));
    return made;
}

}  // namespace

Result<Introduction> Introduction::prepare(const UpOptions& options,
                                           const control_plane::Caller& caller,
                                           const control_plane::StateHome& home,
                                           const control_plane::KubeAccess& access) {
    Introduction made;
    made.own_ = home.path() / "kubeconfig";
    made.server_ = access.server;
    made.elsewhere_ = options.listen.wildcard();
    if (!options.api_only) {
        const std::string& workdir = options.mappings.workdir;
        made.pods_ = fmt::format("  pods run in {}{}, with PATH={}\n", place_of(workdir, caller),
                                 options.mappings.own_workdir ? " (each in a view of its own)" : "",
                                 caller.variable("PATH"));
        if (const std::string names = names_of(options.mappings.file_objects); !names.empty())
            made.pods_ += fmt::format(
                "  and get from the flags what does not exist in their namespace: {}\n", names);
    }
    TRY(made.own_text_, control_plane::merge_kubeconfig("", access));
    if (options.merge_kubeconfig) {
        made.theirs_ = default_kubeconfig(caller);
        TRY(made.merged_, merged(made.theirs_, access));
    }
    return made;
}

Result<std::string> Introduction::write() const {
    TRY_VOID(control_plane::write_private_file(own_, own_text_));
    std::string said = fmt::format("muster is up at {}\n", server_);
    if (theirs_.empty()) {
        said += fmt::format("  export KUBECONFIG={}\n", shell_word(own_.string()));
    } else {
        TRY_VOID(control_plane::write_private_file(theirs_, merged_));
        said += fmt::format("  {} has the context muster now\n", theirs_.string());
    }
    if (elsewhere_)
        said += fmt::format(
            "  for other machines, with a name or an address of this one: muster kubeconfig "
            "--state {} --host HOST\n",
            shell_word(own_.parent_path().string()));
    return said + pods_;
}

}  // namespace muster::cli
