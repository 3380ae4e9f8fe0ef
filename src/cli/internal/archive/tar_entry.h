#pragma once

#include <cstdint>
#include <string>

namespace muster::cli {

/// A member of a tar archive.
struct TarEntry {
    enum class Kind : std::uint8_t { kFile, kDirectory, kSymbolicLink, kHardLink, kOther };

    Kind kind = Kind::kFile;
    std::string path;  ///< as the archive has it
    std::string link;  ///< what a link points to
    std::uint64_t size = 0;
    std::uint32_t mode = 0644;  ///< permissions
    std::uint32_t user = 0;
    std::uint32_t group = 0;
    std::int64_t changed = 0;  ///< seconds since 1970

    friend bool operator==(const TarEntry&, const TarEntry&) = default;
};

}  // namespace muster::cli
