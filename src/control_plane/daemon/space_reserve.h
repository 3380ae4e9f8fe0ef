#pragma once

#include <cstdint>
#include <filesystem>

namespace muster::control_plane {

/// Disk space that is set aside in a directory (a file `reserve`; an eighth of a small disk), so
/// that what is stored can still be read, changed and deleted when the disk is full. When less than
/// that is free, the file is removed and has_room() returns false: nothing new is to be stored. When
/// there is room again, the space is set aside again. On a file system that can't set space aside,
/// has_room() only compares.
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
