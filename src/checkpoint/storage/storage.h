#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace muster::checkpoint {

/// A file that is being written. What is written is on the disk after sync(), and not before. If it goes
/// without sync(), nothing is promised about its content.
class NewFile {
  public:
    virtual ~NewFile() = default;

    /// Parts of the file that don't overlap, in any order, from several threads at once. Quickest where `at`, the bytes'
    /// address and, but for the end of the file, their number are multiples of kPage. kInvalid: beyond the bytes of
    /// create(). Else, as a rule kUnavailable, what the system says ("no space left on the device"), each with the
    /// file's path.
    virtual Result<void> write(std::uint64_t at, std::span<const std::byte> bytes) = 0;
    /// After the last write: content and length are on the disk.
    virtual Result<void> sync() = 0;
};

class StoredFile {
  public:
    virtual ~StoredFile() = default;

    virtual std::uint64_t bytes() const = 0;
    /// Fills `into`, from several threads at once. kInvalid: the file ends before.
    virtual Result<void> read(std::uint64_t at, std::span<std::byte> into) const = 0;
};

/// Refers to what no other process may use meanwhile; gives it back when it goes.
class StorageLock {
  public:
    virtual ~StorageLock() = default;
};

/// Where checkpoints are kept: a tree of files, by paths relative to its root ("1000/rank_00000.safetensors";
/// "" is the root). A path that leaves the root or has a part that is empty, "." or ".." is kInvalid. Calls block; thread: any, several at once.
///
/// As a POSIX file system: a name is there for others immediately, and after a crash of the machine only once its
/// directory was synced.
class Storage {
  public:
    struct Entry {
        std::string name;  ///< within its directory
        bool directory = false;
        std::uint64_t bytes = 0;         ///< of a file
        std::int64_t modified_unix = 0;  ///< seconds
    };

    virtual ~Storage() = default;

    /// As a person would name it: "/data/run".
    virtual std::string name() const = 0;

    /// A new file of `bytes`, in the place of the one that has this path. Its directory must be there.
    virtual Result<std::unique_ptr<NewFile>> create(std::string_view path, std::uint64_t bytes) = 0;
    /// kNotFound.
    virtual Result<std::unique_ptr<StoredFile>> open(std::string_view path) const = 0;
    /// Also those above it. One that is there is no error.
    virtual Result<void> make_directory(std::string_view path) = 0;
    /// By name. kNotFound; kInvalid: it is no directory.
    virtual Result<std::vector<Entry>> list(std::string_view path) const = 0;
    /// Atomically; a file that has the name `to` is replaced, a directory must be empty (kConflict). kNotFound: `from`.
    virtual Result<void> rename(std::string_view from, std::string_view to) = 0;
    /// Both names are there before and afterwards, atomically. kUnsupported: this file system can't.
    virtual Result<void> exchange(std::string_view one, std::string_view other) = 0;
    /// A file, or a directory with all that is in it. One that is not there is no error.
    virtual Result<void> remove(std::string_view path) = 0;
    /// What was created, renamed or removed in this directory holds from now on.
    virtual Result<void> sync_directory(std::string_view path) = 0;
    /// kConflict, with who has it where that is known: another process, or another lock of this one, has that
    /// name. `purpose` tells others what it is for.
    virtual Result<std::unique_ptr<StorageLock>> lock(std::string_view path,
                                                      std::string_view purpose) = 0;
};

}  // namespace muster::checkpoint
