#pragma once

#include <cstdint>
#include <filesystem>

namespace muster::control_plane {

/// Disk space (an eighth of a small disk) that is kept aside in a directory (a file `reserve`), so that on a full disk what is
/// there can still be looked at, changed and deleted. While less than that is free, the file is
/// given up and has_room() says no: nothing new is to be kept. When there is room again, the space
/// is set aside again. On a file system that can't set space aside it only looks.
///
/// Nothing of it fails. Blocks for a system call. Thread: one at a time.
class SpaceReserve {
  public:
    static constexpr std::uint64_t kBytes = std::uint64_t{16} << 20;

    SpaceReserve(std::filesystem::path directory, std::uint64_t bytes = kBytes);

    /// Looks at the disk.
    bool has_room();

  private:
    bool is_free(std::uint64_t bytes) const;
    /// False: there is no room.
    bool set_aside() const;

    std::filesystem::path directory_;
    std::filesystem::path file_;
    std::uint64_t bytes_;
};

}  // namespace muster::control_plane
