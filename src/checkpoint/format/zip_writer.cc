#include "checkpoint/format/zip_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <concepts>
#include <limits>
#include <utility>

#include "base/utf8.h"
#include "checkpoint/format/crc32.h"
#include "checkpoint/format/shown_name.h"
#include "checkpoint/format/zip_layout.h"

namespace muster::checkpoint {
namespace {

constexpr std::uint16_t kReads = 45;  ///< the version of the format that knows wide sizes
/// An extra field's name for bytes that only move what follows, as torch's own archives have it.
constexpr std::uint16_t kPadding = 'F' | 'B' << 8;
constexpr std::uint64_t kExtraHead = 4;
/// 1 January 1980: the first day that can be told, so that equal states are equal files.
constexpr std::uint16_t kDate = 1 << 5 | 1;

template <std::unsigned_integral T>
void put(std::string& to, T value) {
    for (std::size_t i = 0; i < sizeof value; ++i)
        to += static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * i));
}
template <std::unsigned_integral T>
T narrow(std::uint64_t value) {
    constexpr T most = std::numeric_limits<T>::max();
    return value >= most ? most : static_cast<T>(value);
}
bool is_wide(std::uint64_t value) { return value >= kZipWide32; }

/// The part that the header of an entry and the directory's have in common.
void put_facts(std::string& to, std::uint32_t crc, std::uint64_t bytes, std::size_t name,
               std::size_t extra) {
    put(to, kReads);
    put(to, kZipUtf8);
    put(to, kZipStored);
    put(to, std::uint16_t{0});  // time of the day
    put(to, kDate);
    put(to, crc);
    put(to, narrow<std::uint32_t>(bytes));  // compressed
    put(to, narrow<std::uint32_t>(bytes));
    put(to, static_cast<std::uint16_t>(name));
    put(to, static_cast<std::uint16_t>(extra));
}

}  // namespace

Result<void> ZipWriter::begin_entry(std::string_view name, std::uint64_t bytes, std::uint32_t crc) {
    if (name.empty() || name.size() > std::numeric_limits<std::uint16_t>::max() ||
        name.contains('\0') || !is_utf8(name))
        return Error(Code::kInvalid, fmt::format("an archive can't have an entry with the name {}",
                                                 shown_name(name)));
    std::string extra;
    if (is_wide(bytes)) {
        put(extra, kZip64Extra);
        put(extra, std::uint16_t{16});
        put(extra, bytes);
        put(extra, bytes);
    }
    const std::uint64_t end = here() + kZipLocalBytes + name.size() + extra.size() + kExtraHead;
    const std::uint64_t padding = (kZipAlignment - end % kZipAlignment) % kZipAlignment;
    put(extra, kPadding);
    put(extra, static_cast<std::uint16_t>(padding));
    extra.append(padding, '\0');

    std::string header;
    put(header, kZipLocal);
    put_facts(header, crc, bytes, name.size(), extra.size());
    header += name;
    header += extra;
    entries_.push_back({.name = std::string(name), .begin = here(), .bytes = bytes, .crc = crc});
    into_->add_owned(header);
    return {};
}

Result<void> ZipWriter::add(std::string_view name, std::span<const std::byte> content,
                            std::uint32_t crc) {
    TRY_VOID(begin_entry(name, content.size(), crc));
    into_->add(content);
    return {};
}

Result<void> ZipWriter::add_owned(std::string_view name, std::string_view content) {
    const std::uint32_t crc = crc32_of({std::as_bytes(std::span(content))}, 1).front();
    TRY_VOID(begin_entry(name, content.size(), crc));
    into_->add_owned(content);
    return {};
}

void ZipWriter::finish() {
    std::string directory;
    const std::uint64_t begin = here();
    for (const Entry& entry : entries_) {
        std::string extra;
        if (is_wide(entry.bytes) || is_wide(entry.begin)) {
            std::string wide;
            if (is_wide(entry.bytes)) {
                put(wide, entry.bytes);
                put(wide, entry.bytes);
            }
            if (is_wide(entry.begin)) put(wide, entry.begin);
            put(extra, kZip64Extra);
            put(extra, static_cast<std::uint16_t>(wide.size()));
            extra += wide;
        }
        put(directory, kZipCentral);
        put(directory, kReads);  // made by
        put_facts(directory, entry.crc, entry.bytes, entry.name.size(), extra.size());
        put(directory, std::uint16_t{0});  // length of a comment
        put(directory, std::uint16_t{0});  // the disk
        put(directory, std::uint16_t{0});  // no text
        put(directory, std::uint32_t{0});  // attributes of a file system
        put(directory, narrow<std::uint32_t>(entry.begin));
        directory += entry.name;
        directory += extra;
    }
    const std::uint64_t bytes = directory.size();
    const std::uint64_t count = entries_.size();
    if (is_wide(begin) || is_wide(bytes) || count >= kZipWide16) {
        put(directory, kZip64End);
        put(directory, kZip64EndBytes - 12);  // what follows
        put(directory, kReads);               // made by
        put(directory, kReads);
        put(directory, std::uint32_t{0});  // this disk, and the directory's
        put(directory, std::uint32_t{0});
        put(directory, count);  // on this disk, and on all
        put(directory, count);
        put(directory, bytes);
        put(directory, begin);
        put(directory, kZip64Locator);
        put(directory, std::uint32_t{0});
        put(directory, begin + bytes);
        put(directory, std::uint32_t{1});  // how many disks
    }
    put(directory, kZipEnd);
    put(directory, std::uint32_t{0});  // this disk, and the directory's
    put(directory, narrow<std::uint16_t>(count));
    put(directory, narrow<std::uint16_t>(count));
    put(directory, narrow<std::uint32_t>(bytes));
    put(directory, narrow<std::uint32_t>(begin));
    put(directory, std::uint16_t{0});  // length of a comment
    into_->add_owned(directory);
}

}  // namespace muster::checkpoint
