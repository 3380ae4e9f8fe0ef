#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "checkpoint/commit/manifest.h"
#include "checkpoint/storage/storage.h"

namespace muster::checkpoint {

// How shards that are on the disk become a checkpoint: docs/design/checkpoints.md, "In storage".

/// Where the shards of a step are written until it is committed, from the root on: ".muster/1500.3.17", of step, epoch
/// and generation. Who saves makes it.
std::string staging_directory(const ImageFacts& facts);

/// A file in the root by which another program finds the newest checkpoint.
struct Tracker {
    std::string name;
    std::string text;
};

struct CommitOrder {
    std::string directory = {};  ///< of the checkpoint, in the root: "1500"
    std::vector<Tracker> trackers = {};
};

/// Makes the manifest's files, which are in its staging directory, the checkpoint with that name, and the newest one. After an
/// error, a kill or a crash of the machine at any point there is the old state or the new one, and the same call completes it. One at
/// a time for a root.
///
/// kInvalid: the manifest lacks shards. kNotFound: so does the staging directory. kConflict: a directory that is no checkpoint
/// of Muster has the name. kUnsupported: there is a checkpoint of this step, and the file system can't exchange it.
Result<void> commit(Storage& storage, const Manifest& manifest, const CommitOrder& order);

/// Removes what was not committed, of this save and of those before it. What fails is tried by the next commit.
Result<void> sweep_staging(Storage& storage, const ImageFacts& committed);

/// Takes a checkpoint away so that half of it is never found. kNotFound; kConflict: it has no manifest, and is not ours.
Result<void> remove_checkpoint(Storage& storage, std::string_view directory);

}  // namespace muster::checkpoint
