#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "checkpoint/format/torch_tree.h"
#include "checkpoint/format/zip_reader.h"
#include "checkpoint/pickle/pickle_tree.h"

namespace muster::checkpoint {

/// The memory of tensors in a file, where it lies.
struct StoredStorage {
    TorchStorage storage;
    std::uint64_t begin = 0;  ///< in the file
    std::uint64_t bytes = 0;
};

/// What a file says that torch.save wrote (1.6 and newer), without its tensors' numbers.
struct TorchFile {
    std::string pickle;  ///< data.pkl
    PickleTree tree;
    std::vector<StoredStorage> storages;  ///< each key once, in the order of the tree
};

/// Nothing of the file is executed. kInvalid: it is no such file, or damaged: an entry that is missing, or is shorter than
/// the tensors in it; kUnsupported: its numbers are big-endian, or those of read_zip() and read_pickle().
Result<TorchFile> read_torch_file(const FileBytes& file);

}  // namespace muster::checkpoint
