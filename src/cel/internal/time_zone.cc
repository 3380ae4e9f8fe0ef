#include "cel/internal/time_zone.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <span>
#include <string>

#include "cel/internal/characters.h"

namespace muster::cel {
namespace {

constexpr std::size_t kLongestFile = 64 * 1024;
constexpr std::size_t kHeader = 44;

bool is_zone_name(std::string_view name) {
    const bool letters = std::ranges::all_of(name, [](char c) {
        return is_letter(c) || is_digit(c) || c == '/' || c == '_' || c == '-' || c == '+';
    });
    return letters && !name.empty() && name.front() != '/' && name.size() < 64;
}

std::int64_t number(std::string_view bytes, std::size_t at, std::size_t width) {
    std::uint64_t value = static_cast<unsigned char>(bytes[at]) >= 0x80 ? ~std::uint64_t{0} : 0;
    for (std::size_t i = 0; i < width; ++i)
        value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
    return static_cast<std::int64_t>(value);
}

/// What a header of the format says: how many there are of each part (RFC 8536).
struct Counts {
    std::size_t ut = 0;
    std::size_t standard = 0;
    std::size_t leaps = 0;
    std::size_t times = 0;
    std::size_t types = 0;
    std::size_t letters = 0;

    std::size_t bytes(std::size_t width) const {
        return times * (width + 1) + types * 6 + letters + leaps * (width + 4) + standard + ut;
    }
};

std::optional<Counts> counts_at(std::string_view file, std::size_t at) {
    if (file.size() < at + kHeader || file.substr(at, 4) != "TZif") return std::nullopt;
    auto count = [&](std::size_t part) {
        return static_cast<std::size_t>(number(file, at + 20 + part * 4, 4));
    };
    const Counts counts{count(0), count(1), count(2), count(3), count(4), count(5)};
    for (std::size_t each :
         {counts.ut, counts.standard, counts.leaps, counts.times, counts.types, counts.letters})
        if (each > kLongestFile) return std::nullopt;
    return counts;
}

}  // namespace

std::optional<std::int64_t> offset_of_zone(std::string_view name, std::int64_t seconds) {
    if (!is_zone_name(name)) return std::nullopt;
    std::ifstream stream("/usr/share/zoneinfo/" + std::string(name), std::ios::binary);
    std::string file(kLongestFile, '\0');
    stream.read(file.data(), static_cast<std::streamsize>(file.size()));
    file.resize(static_cast<std::size_t>(stream.gcount()));
    // The second part has times of 64 bits.
    const std::optional<Counts> first = counts_at(file, 0);
    if (!first) return std::nullopt;
    const std::size_t second_at = kHeader + first->bytes(4);
    const std::optional<Counts> counts = counts_at(file, second_at);
    if (!counts || counts->types == 0) return std::nullopt;
    const std::size_t times = second_at + kHeader;
    if (file.size() < times + counts->bytes(8)) return std::nullopt;

    std::size_t low = 0;
    std::size_t high = counts->times;
    while (low < high) {
        const std::size_t middle = (low + high) / 2;
        if (number(file, times + middle * 8, 8) <= seconds)
            low = middle + 1;
        else
            high = middle;
    }
    const std::size_t kinds = times + counts->times * 8;
    const std::size_t kind = low == 0 ? 0 : static_cast<unsigned char>(file[kinds + low - 1]);
    if (kind >= counts->types) return std::nullopt;
    return number(file, kinds + counts->times + kind * 6, 4);
}

}  // namespace muster::cel
