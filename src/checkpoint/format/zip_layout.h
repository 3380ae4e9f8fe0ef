#pragma once

#include <cstdint>

namespace muster::checkpoint {

// The records of a zip archive (PKWARE's APPNOTE.TXT, sections 4.3 and 4.5), little-endian and without
// alignment: how long each is but for what follows it, and what it begins with.

inline constexpr std::uint32_t kZipLocal = 0x04034b50;  ///< in front of an entry
inline constexpr std::uint64_t kZipLocalBytes = 30;
inline constexpr std::uint32_t kZipCentral = 0x02014b50;  ///< of an entry in the directory
inline constexpr std::uint64_t kZipCentralBytes = 46;
inline constexpr std::uint32_t kZipEnd = 0x06054b50;
inline constexpr std::uint64_t kZipEndBytes = 22;
inline constexpr std::uint32_t kZip64End = 0x06064b50;
inline constexpr std::uint64_t kZip64EndBytes = 56;
inline constexpr std::uint32_t kZip64Locator = 0x07064b50;
inline constexpr std::uint64_t kZip64LocatorBytes = 20;

/// In an extra field: sizes and places that need more than 32 bits.
inline constexpr std::uint16_t kZip64Extra = 0x0001;
/// In place of a number that stands in such a field, or in the wider record of the end.
inline constexpr std::uint32_t kZipWide32 = 0xffffffff;
inline constexpr std::uint16_t kZipWide16 = 0xffff;

inline constexpr std::uint16_t kZipStored = 0;
inline constexpr std::uint16_t kZipUtf8 = 0x0800;       ///< flag: the name is UTF-8
inline constexpr std::uint16_t kZipEncrypted = 0x0001;  ///< flag

}  // namespace muster::checkpoint
