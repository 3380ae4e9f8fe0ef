#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"
#include "checkpoint/storage/storage.h"

namespace muster::checkpoint {

/// Checkpoints in a directory of a file system, local or of a network. Owns a descriptor of it: what is renamed or mounted
/// above it meanwhile changes nothing.
///
/// What it changes lies in the directory: a symbolic link is followed only by who reads. Files and directories have the
/// rights that the process's umask leaves them, so that others can load them; in the root, directories whose names begin
/// with a dot, and locks anywhere, are their owner's alone.
///
/// Errors are storage_failure()'s besides those of the interface.
class DirectoryStorage final : public Storage {
  public:
    /// kNotFound; kInvalid: it is no directory.
    static Result<std::unique_ptr<DirectoryStorage>> in(const std::filesystem::path& root);
    /// Makes it, and those above it, where it is not there. Their names are on the disk then.
    static Result<std::unique_ptr<DirectoryStorage>> make(const std::filesystem::path& root);

    std::string name() const override { return root_name_; }
    Result<std::unique_ptr<NewFile>> create(std::string_view path, std::uint64_t bytes) override;
    Result<std::unique_ptr<StoredFile>> open(std::string_view path) const override;
    Result<void> make_directory(std::string_view path) override;
    /// By name. What a link leads to is what it is; what is neither file nor directory has no bytes.
    Result<std::vector<Entry>> list(std::string_view path) const override;
    Result<void> rename(std::string_view from, std::string_view to) override;
    Result<void> exchange(std::string_view one, std::string_view other) override;
    Result<void> remove(std::string_view path) override;
    Result<void> sync_directory(std::string_view path) override;
    Result<std::unique_ptr<StorageLock>> lock(std::string_view path,
                                              std::string_view purpose) override;

  private:
    /// A name in an open directory, for calls that change it.
    struct Place {
        UniqueFd directory;
        std::string name;
    };

    DirectoryStorage(UniqueFd root, std::string name)
        : root_(std::move(root)), root_name_(std::move(name)) {}

    /// As a person would name it.
    std::string shown(std::string_view path) const;
    Result<Place> place_of(const char* doing, std::string_view path) const;

    UniqueFd root_;
    std::string root_name_;
};

}  // namespace muster::checkpoint
