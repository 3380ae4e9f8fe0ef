#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "checkpoint/commit/manifest.h"
#include "checkpoint/storage/storage.h"

namespace muster::checkpoint {

struct FoundCheckpoint {
    std::string directory;  ///< in the root
    Manifest manifest;
};

/// A directory that can't be loaded, or LATEST, and why.
struct UnusableDirectory {
    std::string directory;
    std::string why;
};

/// What is in a root.
struct Catalog {
    /// By epoch, generation and step, the newest first. Their files are there and have the right lengths;
    /// whether their content is what it was, verify_shard() says.
    std::vector<FoundCheckpoint> checkpoints = {};
    /// Those with a manifest that is damaged, or whose files are not all there.
    std::vector<UnusableDirectory> unusable = {};
    std::vector<std::string> others = {};  ///< directories without a manifest
    std::string latest = {};               ///< what LATEST names; empty: there is none
};

/// kNotFound: there is no such directory. A file that can't be read makes its checkpoint unusable, not the rest.
Result<Catalog> read_catalog(const Storage& storage);

/// The checkpoint that is to be loaded: of that step, or the newest, whatever LATEST names. kNotFound, with what is there instead.
Result<FoundCheckpoint> checkpoint_to_load(const Catalog& catalog, const std::string& root,
                                           std::optional<std::uint64_t> step);

}  // namespace muster::checkpoint
