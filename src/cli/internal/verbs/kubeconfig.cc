#include <fmt/format.h>

#include <cstdio>

#include "cli/internal/verbs/verbs.h"
#include "control_plane/caller.h"
#include "control_plane/state_home.h"
#include "manifest/read_files.h"

namespace muster::cli {

int kubeconfig(const KubeconfigOptions& options) {
    const std::filesystem::path file =
        control_plane::state_path(options.state_dir, control_plane::current_caller()) /
        "kubeconfig";
    std::error_code missing;
    if (!std::filesystem::exists(file, missing) && !missing) {
        fmt::print(stderr, "muster kubeconfig: there is no {}; 'muster up' writes it\n",
                   file.string());
        return 1;
    }
    auto text = manifest::read_file(file.string());
    if (!text) {
        fmt::print(stderr, "muster kubeconfig: {}: {}\n", file.string(), text.error().message());
        return 1;
    }
    fmt::print("{}", *text);
    return 0;
}

}  // namespace muster::cli
