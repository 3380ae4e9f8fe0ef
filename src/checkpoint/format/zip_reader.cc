#include "checkpoint/format/zip_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <concepts>
#include <cstring>
#include <string_view>
#include <utility>

#include "checkpoint/format/shown_name.h"
#include "checkpoint/format/zip_layout.h"

namespace muster::checkpoint {
namespace {

Error wrong_archive(std::string_view what) {
    return Error(Code::kInvalid, fmt::format("a zip archive: {}", what));
}

/// A record in memory, whose fields are at places that the format says.
class Record {
  public:
    explicit Record(std::string_view bytes) : bytes_(bytes) {}
    template <std::unsigned_integral T>
    T at(std::size_t place) const {
        T value{};
        std::memcpy(&value, bytes_.data() + place, sizeof value);
        return value;
    }

  private:
    std::string_view bytes_;
};

Result<std::string> read_part(const FileBytes& file, std::uint64_t at, std::uint64_t count) {
    if (at > file.bytes || count > file.bytes - at) return wrong_archive("it ends too early");
    std::string bytes(count, '\0');
    TRY_VOID(file.read(at, std::as_writable_bytes(std::span(bytes))));
    return bytes;
}

struct Directory {
    std::uint64_t begin = 0;
    std::uint64_t bytes = 0;
    std::uint64_t entries = 0;
};

/// The end's own record is the last one that is followed by a comment of the length that it says.
Result<std::uint64_t> find_end(const FileBytes& file) {
    const std::uint64_t most = std::min(file.bytes, kZipEndBytes + UINT16_MAX);
    TRY(const std::string tail, read_part(file, file.bytes - most, most));
    for (std::uint64_t at = tail.size() - std::min<std::uint64_t>(tail.size(), kZipEndBytes) + 1;
         at-- > 0;) {
        if (tail.size() - at < kZipEndBytes) break;
        const Record end(std::string_view(tail).substr(at));
        if (end.at<std::uint32_t>(0) == kZipEnd &&
            end.at<std::uint16_t>(20) == tail.size() - at - kZipEndBytes)
            return file.bytes - most + at;
    }
    return wrong_archive("it has no end");
}

Result<Directory> find_directory(const FileBytes& file) {
    TRY(const std::uint64_t at, find_end(file));
    TRY(const std::string bytes, read_part(file, at, kZipEndBytes));
    const Record end(bytes);
    Directory found{.begin = end.at<std::uint32_t>(16),
                    .bytes = end.at<std::uint32_t>(12),
                    .entries = end.at<std::uint16_t>(10)};
    if (end.at<std::uint16_t>(4) != 0 && end.at<std::uint16_t>(4) != kZipWide16)
        return Error(Code::kUnsupported, "a zip archive on several disks");
    if (at >= kZip64LocatorBytes) {
        TRY(const std::string raw, read_part(file, at - kZip64LocatorBytes, kZip64LocatorBytes));
        const Record locator(raw);
        if (locator.at<std::uint32_t>(0) == kZip64Locator) {
            TRY(const std::string wide,
                read_part(file, locator.at<std::uint64_t>(8), kZip64EndBytes));
            const Record wide_end(wide);
            if (wide_end.at<std::uint32_t>(0) != kZip64End)
                return wrong_archive("its end is damaged");
            found = {.begin = wide_end.at<std::uint64_t>(48),
                     .bytes = wide_end.at<std::uint64_t>(40),
                     .entries = wide_end.at<std::uint64_t>(32)};
        }
    }
    if (found.begin > at || found.bytes > at - found.begin)
        return wrong_archive("its directory is not within it");
    return found;
}

/// Puts the wide numbers of an extra field in the places of those that stand for them.
Result<void> widen(std::string_view extra, ZipEntry& entry, std::uint64_t& stored) {
    while (extra.size() >= 4) {
        const Record field(extra);
        const auto id = field.at<std::uint16_t>(0);
        const auto length = field.at<std::uint16_t>(2);
        if (length > extra.size() - 4) break;
        std::string_view content = extra.substr(4, length);
        extra.remove_prefix(4 + length);
        if (id != kZip64Extra) continue;
        for (std::uint64_t* const number : {&entry.bytes, &stored, &entry.begin}) {
            if (*number != kZipWide32) continue;
            if (content.size() < sizeof *number) return wrong_archive("a wide number is missing");
            *number = Record(content).at<std::uint64_t>(0);
            content.remove_prefix(sizeof *number);
        }
    }
    return {};
}

/// The entry whose record the directory begins with, and which is taken off; its begin is that of its header.
Result<ZipEntry> take_entry(std::string_view& directory) {
    if (directory.size() < kZipCentralBytes) return wrong_archive("its directory is cut off");
    const Record record(directory);
    if (record.at<std::uint32_t>(0) != kZipCentral)
        return wrong_archive("its directory is damaged");
    const std::uint64_t name = record.at<std::uint16_t>(28);
    const std::uint64_t extra = record.at<std::uint16_t>(30);
    const std::uint64_t whole = kZipCentralBytes + name + extra + record.at<std::uint16_t>(32);
    if (whole > directory.size()) return wrong_archive("its directory is cut off");
    ZipEntry entry{.name = std::string(directory.substr(kZipCentralBytes, name)),
                   .begin = record.at<std::uint32_t>(42),
                   .bytes = record.at<std::uint32_t>(24),
                   .crc = record.at<std::uint32_t>(16)};
    std::uint64_t stored = record.at<std::uint32_t>(20);
    TRY_VOID(widen(directory.substr(kZipCentralBytes + name, extra), entry, stored));
    if (record.at<std::uint16_t>(10) != kZipStored || stored != entry.bytes ||
        (record.at<std::uint16_t>(8) & kZipEncrypted) != 0)
        return Error(Code::kUnsupported,
                     fmt::format("a zip archive: the entry {} is compressed or encrypted",
                                 shown_name(entry.name)));
    directory.remove_prefix(whole);
    return entry;
}

/// Moves its begin from the header to what follows it.
Result<void> skip_header(const FileBytes& file, ZipEntry& entry) {
    TRY(const std::string bytes, read_part(file, entry.begin, kZipLocalBytes));
    const Record header(bytes);
    if (header.at<std::uint32_t>(0) != kZipLocal)
        return wrong_archive("the header of an entry is damaged");
    entry.begin += kZipLocalBytes + header.at<std::uint16_t>(26) + header.at<std::uint16_t>(28);
    if (entry.begin > file.bytes || entry.bytes > file.bytes - entry.begin)
        return wrong_archive("an entry is not within it");
    return {};
}

}  // namespace

Result<std::vector<ZipEntry>> read_zip(const FileBytes& file, const ZipLimits& limits) {
    TRY(const Directory directory, find_directory(file));
    if (directory.bytes > limits.directory || directory.entries > limits.entries)
        return Error(Code::kTooLarge,
                     fmt::format("a zip archive with a directory of {} entries in {} bytes",
                                 directory.entries, directory.bytes));
    TRY(const std::string text, read_part(file, directory.begin, directory.bytes));
    std::string_view rest = text;
    std::vector<ZipEntry> entries;
    for (std::uint64_t i = 0; i < directory.entries; ++i) {
        TRY(ZipEntry entry, take_entry(rest));
        TRY_VOID(skip_header(file, entry));
        entries.push_back(std::move(entry));
    }
    return entries;
}

}  // namespace muster::checkpoint
