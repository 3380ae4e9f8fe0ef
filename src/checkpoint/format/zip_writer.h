#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "checkpoint/format/composed.h"

namespace muster::checkpoint {

/// Data of an entry begins at a multiple of it, from the archive's begin on: a tensor in it can be mapped.
inline constexpr std::uint64_t kZipAlignment = 64;

/// Composes a zip archive whose entries are stored as they are, with sizes beyond 4 GiB where needed.
/// One may stand behind other bytes in a file; its offsets count from its own begin.
class ZipWriter {
  public:
    explicit ZipWriter(Composed& into) : into_(&into), begin_(into.bytes()) {}

    /// The content belongs to an image; `crc` is its CRC-32. kInvalid: a name that is empty, longer than
    /// 64 KiB, not UTF-8, or has a zero byte. That a name is there once is the caller's part.
    Result<void> add(std::string_view name, std::span<const std::byte> content, std::uint32_t crc);
    Result<void> add_owned(std::string_view name, std::string_view content);
    /// After the last entry: the directory.
    void finish();

  private:
    struct Entry {
        std::string name;
        std::uint64_t begin;  ///< of its header
        std::uint64_t bytes;
        std::uint32_t crc;
    };
    Result<void> begin_entry(std::string_view name, std::uint64_t bytes, std::uint32_t crc);
    std::uint64_t here() const { return into_->bytes() - begin_; }

    Composed* into_;
    std::uint64_t begin_;
    std::vector<Entry> entries_;
};

}  // namespace muster::checkpoint
