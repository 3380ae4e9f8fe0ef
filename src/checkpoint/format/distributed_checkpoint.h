#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "checkpoint/format/composed.h"
#include "checkpoint/format/flattened_tree.h"
#include "checkpoint/format/image_view.h"

namespace muster::checkpoint {

// The format of torch.distributed.checkpoint: a file for each rank in which archives of torch stand one after the
// other, each of one value, and a file that says where each value is, which is made of all ranks' entries.

std::string distributed_file_name(std::uint32_t rank);  ///< "__3_0.distcp"

/// Which part of a tensor a rank has.
struct Placement {
    std::string name;  ///< in the table of the rank's image
    std::vector<std::uint64_t> global_shape;
    std::vector<std::uint64_t> offsets;  ///< in each dimension, in elements
};

/// A value in the file of a rank.
struct DistributedEntry {
    std::vector<PathPart> path;
    std::string dtype = {};  ///< torch's name; empty: it is no tensor, and has no shape
    std::vector<std::uint64_t> global_shape = {};
    std::vector<std::uint64_t> offsets = {};
    std::vector<std::uint64_t> sizes = {};
    std::uint64_t begin = 0;  ///< in the rank's file
    std::uint64_t bytes = 0;

    friend bool operator==(const DistributedEntry&, const DistributedEntry&) = default;
};

struct DistributedFile {
    Composed file;
    std::vector<DistributedEntry> entries;
};

/// Composes the file of a rank. A tensor without a placement is whole; an image without a tree has its tensors by their names. Reads the
/// whole image once, with so many threads, for checksums. Errors: those of compose_torch() but for names, those of flatten();
/// kInvalid: a placement that does not fit its tensor.
Result<DistributedFile> compose_distributed(const ImageView& image,
                                            std::span<const Placement> placements, int threads);

}  // namespace muster::checkpoint
