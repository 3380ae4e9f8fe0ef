#include "cli/internal/archive/tar_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/fields.h"
#include "base/parse_number.h"
#include "cli/internal/archive/tar_blocks.h"

namespace muster::cli {

namespace {

constexpr std::size_t kPiece = std::size_t{64} * 1024;
constexpr char kPaxOfOne = 'x';
constexpr char kPaxOfAll = 'g';
constexpr char kLongNameType = 'L';
constexpr char kLongLinkType = 'K';

Error broken(std::string_view what) {
    return {Code::kInvalid, fmt::format("the archive is damaged: {}", what)};
}

std::string_view field_of(std::string_view block, TarField field) {
    return block.substr(field.at, field.size);
}

std::string_view text_of(std::string_view block, TarField field) {
    const std::string_view text = field_of(block, field);
    return text.substr(0, text.find('\0'));
}

/// Octal digits, with blanks and zeros around, or base 256; nullopt for anything else.
std::optional<std::uint64_t> number_of(std::string_view block, TarField field) {
    const std::string_view bytes = field_of(block, field);
    if ((static_cast<unsigned char>(bytes[0]) & 0x80) != 0) {
        std::uint64_t number = static_cast<unsigned char>(bytes[0]) & 0x7f;
        for (const char c : bytes.substr(1)) {
            if (number > (std::numeric_limits<std::uint64_t>::max() >> 8)) return std::nullopt;
            number = number << 8 | static_cast<unsigned char>(c);
        }
        return number;
    }
    std::string_view digits = text_of(block, field);
    while (!digits.empty() && digits.front() == ' ') digits.remove_prefix(1);
    while (!digits.empty() && digits.back() == ' ') digits.remove_suffix(1);
    if (digits.empty()) return 0;
    return parse_number<std::uint64_t>(digits, 8);
}

/// Over the header with blanks in the place of the sum.
bool sum_is_right(std::string_view block) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < block.size(); ++i) {
        const bool in_sum = i >= kTarChecksum.at && i < kTarChecksum.at + kTarChecksum.size;
        sum += in_sum ? ' ' : static_cast<unsigned char>(block[i]);
    }
    return number_of(block, kTarChecksum) == sum;
}

TarEntry::Kind kind_of_type(char type) {
    switch (type) {
        case '\0':
        case '0':
        case '7':
            return TarEntry::Kind::kFile;
        case '1':
            return TarEntry::Kind::kHardLink;
        case '2':
            return TarEntry::Kind::kSymbolicLink;
        case '5':
            return TarEntry::Kind::kDirectory;
        default:
            return TarEntry::Kind::kOther;
    }
}

bool is_attribute(char type) {
    return type == kPaxOfOne || type == kPaxOfAll || type == kLongNameType || type == kLongLinkType;
}

std::string path_of(std::string_view block) {
    const std::string name(text_of(block, kTarName));
    // GNU's header has other things in the place of the prefix.
    const bool posix = field_of(block, kTarMagic) == std::string_view("ustar\0", 6);
    const std::string_view prefix = posix ? text_of(block, kTarPrefix) : std::string_view();
    return prefix.empty() ? name : fmt::format("{}/{}", prefix, name);
}

}  // namespace

std::string_view TarReader::take(std::size_t most) {
    const std::string_view taken = std::string_view(pending_).substr(at_, most);
    at_ += taken.size();
    return taken;
}

Result<std::optional<TarReader::Event>> TarReader::next() {
    for (;;) {
        if (ended_) {
            at_ = pending_.size();
            return std::nullopt;
        }
        if (left_ > 0 || padding_ > 0) {
            if (unread() == 0) return std::nullopt;
            TRY(auto piece, content());
            if (piece) return piece;
            continue;
        }
        if (unread() < kTarBlock) return std::nullopt;
        TRY(auto entry, header(take(kTarBlock)));
        if (entry) return Event{.entry = *std::move(entry), .data = {}};
    }
}

/// Takes what has come of a content and of what follows it.
Result<std::optional<TarReader::Event>> TarReader::content() {
    if (left_ > 0) {
        std::string data(take(std::min(left_, kPiece)));
        left_ -= data.size();
        if (reading_ != 0) {
            attributes_ += data;
            if (left_ == 0) {
                TRY_VOID(take_attributes(reading_, attributes_));
                attributes_.clear();
            }
            return std::nullopt;
        }
        if (passed_over_) return std::nullopt;
        return Event{.entry = {}, .data = std::move(data)};
    }
    padding_ -= take(padding_).size();
    return std::nullopt;
}

Result<std::optional<TarEntry>> TarReader::header(std::string_view block) {
    if (block.find_first_not_of('\0') == block.npos) {
        ended_ = true;
        return std::nullopt;
    }
    if (!sum_is_right(block)) return broken("a header's sum is wrong");
    const auto size = number_of(block, kTarSize);
    const auto mode = number_of(block, kTarMode);
    if (!size || *size > std::uint64_t{1} << 62) return broken("a size that is no number");
    const char type = block[kTarType.at];
    reading_ = is_attribute(type) ? type : '\0';
    left_ = *size;
    if (reading_ != 0) {
        if (left_ > kMaxAttributes) return broken("names or attributes that are too long");
        padding_ = tar_padding(left_);
        attributes_.clear();
        return std::nullopt;
    }
    TarEntry entry =
        with_attributes({.kind = kind_of_type(type),
                         .path = path_of(block),
                         .link = std::string(text_of(block, kTarLink)),
                         .size = left_,
                         .mode = static_cast<std::uint32_t>(mode.value_or(0) & 07777)});
    // Links and directories have no content, whatever their size says.
    if (entry.kind != TarEntry::Kind::kFile && entry.kind != TarEntry::Kind::kOther) entry.size = 0;
    left_ = entry.size;
    padding_ = tar_padding(left_);
    passed_over_ = entry.kind != TarEntry::Kind::kFile;
    if (entry.path.empty()) return broken("a member without a name");
    return entry;
}

TarEntry TarReader::with_attributes(TarEntry entry) {
    if (!long_path_.empty()) entry.path = std::exchange(long_path_, {});
    if (!long_link_.empty()) entry.link = std::exchange(long_link_, {});
    if (long_size_) entry.size = *std::exchange(long_size_, std::nullopt);
    // An old way to write a directory.
    if (entry.kind == TarEntry::Kind::kFile && entry.path.ends_with('/'))
        entry.kind = TarEntry::Kind::kDirectory;
    return entry;
}

Result<void> TarReader::take_attributes(char type, std::string_view text) {
    if (type == kPaxOfAll) return {};
    if (type != kPaxOfOne) {
        (type == kLongNameType ? long_path_ : long_link_) = text.substr(0, text.find('\0'));
        return {};
    }
    // Records of "LENGTH NAME=VALUE\n".
    while (!text.empty()) {
        const auto length = leading_number<std::size_t>(text);
        if (!length || *length > text.size() || *length < 5) return broken("an attribute's length");
        std::string_view record = text.substr(0, *length);
        text.remove_prefix(*length);
        if (record.back() != '\n') return broken("an attribute that does not end");
        record.remove_suffix(1);
        take_field(record, ' ');
        const std::string_view name = take_field(record, '=');
        if (name == "path") long_path_ = record;
        if (name == "linkpath") long_link_ = record;
        if (name == "size") {
            long_size_ = parse_number<std::size_t>(record);
            if (!long_size_ || *long_size_ > std::uint64_t{1} << 62)
                return broken("a size that is no number");
        }
    }
    return {};
}

}  // namespace muster::cli
