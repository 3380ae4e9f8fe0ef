#include "apiserver/objects/service_range.h"

#include <fmt/format.h>

#include "base/parse_number.h"

namespace muster::apiserver {

std::string ipv4_text(std::uint32_t address) {
    return fmt::format("{}.{}.{}.{}", address >> 24, (address >> 16) & 255, (address >> 8) & 255,
                       address & 255);
}

std::optional<std::uint32_t> parse_ipv4(std::string_view text) {
    std::uint32_t address = 0;
    for (int part = 0; part < 4; ++part) {
        std::uint32_t number = 0;
        std::size_t digits = 0;
        while (digits < text.size() && digits < 3 && text[digits] >= '0' && text[digits] <= '9')
            number = number * 10 + static_cast<std::uint32_t>(text[digits++] - '0');
        if (digits == 0 || number > 255) return std::nullopt;
        text.remove_prefix(digits);
        address = (address << 8) | number;
        if (part == 3) break;
        if (text.empty() || text.front() != '.') return std::nullopt;
        text.remove_prefix(1);
    }
    return text.empty() ? std::optional(address) : std::nullopt;
}

std::optional<ServiceRange> ServiceRange::parse(std::string_view text) {
    const std::size_t slash = text.find('/');
    if (slash == text.npos) return std::nullopt;
    const auto address = parse_ipv4(text.substr(0, slash));
    const auto bits = parse_number<std::uint32_t>(text.substr(slash + 1));
    if (!address || !bits || *bits == 0 || *bits > 32) return std::nullopt;
    const std::uint32_t size = *bits == 32 ? 1u : 1u << (32 - *bits);
    return ServiceRange{*address & ~(size - 1), size};
}

std::string ServiceRange::first() const { return ipv4_text(base + 1); }

}  // namespace muster::apiserver
