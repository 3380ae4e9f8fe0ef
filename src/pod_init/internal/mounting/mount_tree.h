#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "pod_init/internal/mounting/path_in_root.h"

namespace muster::pod_init {

/// The file that a descriptor leads to, and by which mount.
struct FileIdentity {
    std::uint64_t mount = 0;
    dev_t device = 0;
    ino_t inode = 0;
    bool is_root = false;  ///< of its mount

    bool is_same_file(const FileIdentity& other) const {
        return device == other.device && inode == other.inode;
    }
};

/// The mount tree of one container while it is put together, in the calling process's own (fresh)
/// mount namespace. Knows which mounts belong to the pod: only in these are directories made.
/// Others may move links and directories meanwhile, so everything is done by descriptors.
class MountTree {
  public:
    /// A directory where a file system may be put together.
    static Result<MountTree> create(std::string scratch_dir);

    /// Mounts what `tree` holds at the path, whose mount point is made to appear where it is
    /// missing. `owned`: it belongs to the pod. Returns where that is, without links.
    ///
    /// kInvalid: the path is the root, or one of /proc that a cluster's runtime refuses too, or of
    /// the other kind than the tree (a file, a directory).
    Result<std::string> attach(UniqueFd tree, const std::string& target, bool owned);

  private:
    struct Owned {
        std::string path;
        FileIdentity root;
    };

    explicit MountTree(std::string scratch_dir) : scratch_dir_(std::move(scratch_dir)) {}

    Result<void> open_scratch();
    Result<UniqueFd> mount_point(PathInRoot place, const std::string& target, bool directory);
    bool owns(std::uint64_t mount) const;
    Result<void> remember(int fd, std::string path);
    Result<UniqueFd> cover(const PathInRoot& place);
    Result<void> enter_new_root(int top);
    void find_owned_again(const std::string& below);

    std::string scratch_dir_;
    UniqueFd scratch_;
    FileIdentity scratch_identity_;
    std::vector<Owned> owned_;
};

}  // namespace muster::pod_init
