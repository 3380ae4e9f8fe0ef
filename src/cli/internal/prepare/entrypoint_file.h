#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "control_plane/daemon/caller.h"
#include "kube/objects/entrypoints.h"

namespace muster::cli {

/// Read from the caller's directory where no flag names another file, so that a repository can have
/// it beside its manifests.
inline constexpr const char* kEntrypointFile = "muster-entrypoints.yaml";

/// A map from images to commands, each a text that is split as a shell does, or a list of words.
Result<kube::Entrypoints> read_entrypoints(std::string_view text, const std::string& source);

struct FoundEntrypoints {
    kube::Entrypoints known;
    std::string file;  ///< where they are from; empty: there is no such file
};
/// `file`: --entrypoints; empty: kEntrypointFile, if there is one.
Result<FoundEntrypoints> find_entrypoints(const std::string& file,
                                          const control_plane::Caller& caller);

}  // namespace muster::cli
