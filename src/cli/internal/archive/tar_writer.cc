#include "cli/internal/archive/tar_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "cli/internal/archive/tar_blocks.h"

namespace muster::cli {

namespace {

constexpr char kLongName = 'L';
constexpr char kLongLink = 'K';

void put(std::string& block, TarField field, std::string_view text) {
    block.replace(field.at, text.size(), text);
}

/// Octal digits, or in base 256 where they don't suffice.
void put_number(std::string& block, TarField field, std::uint64_t number) {
    const std::string digits = fmt::format("{:0{}o}", number, field.size - 1);
    if (digits.size() < field.size) return put(block, field, digits);
    for (std::size_t i = 0; i < field.size; ++i) {
        block[field.at + field.size - 1 - i] = static_cast<char>(number & 0xff);
        number >>= 8;
    }
    block[field.at] = static_cast<char>(0x80);
}

std::string header_block(const TarEntry& entry, char type) {
    std::string block(kTarBlock, '\0');
    put(block, kTarName, std::string_view(entry.path).substr(0, kTarName.size));
    put_number(block, kTarMode, entry.mode);
    put_number(block, kTarUser, entry.user);
    put_number(block, kTarGroup, entry.group);
    put_number(block, kTarSize, entry.size);
    put_number(block, kTarChanged,
               static_cast<std::uint64_t>(std::max<std::int64_t>(entry.changed, 0)));
    block[kTarType.at] = type;
    put(block, kTarLink, std::string_view(entry.link).substr(0, kTarLink.size));
    put(block, kTarMagic, std::string_view("ustar ", 6));
    block[kTarMagic.at + kTarMagic.size] = ' ';
    put(block, kTarChecksum, "        ");
    unsigned sum = 0;
    for (const char c : block) sum += static_cast<unsigned char>(c);
    put(block, kTarChecksum, fmt::format("{:06o}", sum));
    block[kTarChecksum.at + 6] = '\0';
    return block;
}

std::string long_text(char type, const std::string& text) {
    const std::size_t size = text.size() + 1;
    std::string blocks =
        header_block({.path = "././@LongLink", .link = {}, .size = size, .mode = 0}, type);
    blocks += text;
    blocks.append(1 + tar_padding(size), '\0');
    return blocks;
}

char type_of(TarEntry::Kind kind) {
    switch (kind) {
        case TarEntry::Kind::kDirectory:
            return '5';
        case TarEntry::Kind::kSymbolicLink:
            return '2';
        case TarEntry::Kind::kHardLink:
            return '1';
        case TarEntry::Kind::kFile:
        case TarEntry::Kind::kOther:
            return '0';
    }
    return '0';
}

}  // namespace

std::string tar_header(const TarEntry& entry) {
    std::string blocks;
    if (entry.link.size() > kTarLink.size) blocks += long_text(kLongLink, entry.link);
    if (entry.path.size() > kTarName.size) blocks += long_text(kLongName, entry.path);
    return blocks + header_block(entry, type_of(entry.kind));
}

std::string tar_end() { return std::string(2 * kTarBlock, '\0'); }

}  // namespace muster::cli
