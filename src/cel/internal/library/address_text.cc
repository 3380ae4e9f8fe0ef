#include "cel/internal/library/address_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>

#include "cel/internal/characters.h"
#include "kube/values/go_quote.h"

namespace muster::cel {
namespace {

struct Problem {
    std::string_view what;
    std::string_view at;  ///< what could not be read; "" where Go does not say it
};
using Read = std::optional<Problem>;  ///< nothing: it was read

/// Four numbers with points between them.
Read read_v4(std::string_view text, std::span<std::uint8_t> bytes) {
    std::size_t field = 0;
    std::size_t begin = 0;
    unsigned value = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (is_digit(text[i])) {
            if (i == begin + 1 && value == 0)
                return Problem{"IPv4 field has octet with leading zero", ""};
            value = value * 10 + static_cast<unsigned>(text[i] - '0');
            if (value > 255) return Problem{"IPv4 field has value >255", ""};
            continue;
        }
        if (text[i] != '.') return Problem{"unexpected character", text.substr(i)};
        if (i == begin || i + 1 == text.size())
            return Problem{"IPv4 field must have at least one digit", text.substr(i)};
        if (field == 3) return Problem{"IPv4 address too long", ""};
        bytes[field++] = static_cast<std::uint8_t>(value);
        value = 0;
        begin = i + 1;
    }
    if (field < 3) return Problem{"IPv4 address too short", ""};
    bytes[3] = static_cast<std::uint8_t>(value);
    return std::nullopt;
}

/// The groups of an address of version 6 as they come; "::" stands for those that are missing.
class GroupReader {
  public:
    GroupReader(std::string_view text, std::span<std::uint8_t, 16> bytes)
        : rest_(text), bytes_(bytes) {}

    Read read() {
        if (rest_.starts_with("::")) {
            gap_ = 0;
            rest_.remove_prefix(2);
            if (rest_.empty()) return std::nullopt;
        }
        bool more = true;
        while (more && filled_ < bytes_.size())
            if (Read problem = read_group(more)) return problem;
        if (!rest_.empty()) return Problem{"trailing garbage after address", rest_};
        return fill_gap();
    }

  private:
    Read read_group(bool& more) {
        std::size_t digits = 0;
        unsigned value = 0;
        for (; digits < rest_.size() && hex_digit(rest_[digits]) >= 0; ++digits) {
            if (digits == 4) return Problem{"each group must have 4 or less digits", rest_};
            value = value * 16 + static_cast<unsigned>(hex_digit(rest_[digits]));
        }
        if (digits == 0)
            return Problem{"each colon-separated field must have at least one digit", rest_};
        if (rest_.substr(digits).starts_with('.')) {
            more = false;
            return read_end_in_v4();
        }
        bytes_[filled_++] = static_cast<std::uint8_t>(value >> 8);
        bytes_[filled_++] = static_cast<std::uint8_t>(value & 0xff);
        rest_.remove_prefix(digits);
        return read_colons(more);
    }

    /// What stands after a group.
    Read read_colons(bool& more) {
        more = !rest_.empty();
        if (!more) return std::nullopt;
        if (rest_.front() != ':') return Problem{"unexpected character, want colon", rest_};
        if (rest_.size() == 1) return Problem{"colon must be followed by more characters", rest_};
        rest_.remove_prefix(1);
        if (rest_.front() != ':') return std::nullopt;
        if (gap_) return Problem{"multiple :: in address", rest_};
        gap_ = filled_;
        rest_.remove_prefix(1);
        more = !rest_.empty();
        return std::nullopt;
    }

    Read read_end_in_v4() {
        if (!gap_ && filled_ != 12)
            return Problem{"embedded IPv4 address must replace the final 2 fields of the address",
                           rest_};
        if (filled_ > 12)
            return Problem{"too many hex fields to fit an embedded IPv4 at the end of the address",
                           rest_};
        if (Read problem = read_v4(rest_, bytes_.subspan(filled_, 4))) return problem;
        rest_ = {};
        filled_ += 4;
        return std::nullopt;
    }

    Read fill_gap() {
        if (filled_ == bytes_.size())
            return gap_ ? Read(Problem{"the :: must expand to at least one field of zeros", ""})
                        : std::nullopt;
        if (!gap_) return Problem{"address string too short", ""};
        const auto begin = bytes_.begin();
        std::rotate(begin + static_cast<std::ptrdiff_t>(*gap_),
                    begin + static_cast<std::ptrdiff_t>(filled_), bytes_.end());
        return std::nullopt;
    }

    std::string_view rest_;
    std::span<std::uint8_t, 16> bytes_;
    std::size_t filled_ = 0;
    std::optional<std::size_t> gap_;  ///< before which byte "::" stands
};

Read read_v6(std::string_view text, AddressText& address) {
    address.is_v4 = false;
    const std::size_t percent = text.find('%');
    address.has_zone = percent != text.npos;
    if (percent + 1 == text.size()) return Problem{"zone must be a non-empty string", ""};
    return GroupReader(text.substr(0, percent), address.bytes).read();
}

Read read_into(std::string_view text, AddressText& address) {
    const std::size_t mark = text.find_first_of(".:%");
    if (mark == text.npos) return Problem{"unable to parse IP", ""};
    if (text[mark] == '%') return Problem{"missing IPv6 address", ""};
    return text[mark] == '.' ? read_v4(text, address.bytes) : read_v6(text, address);
}

}  // namespace

std::expected<AddressText, std::string> read_address(std::string_view text) {
    AddressText address;
    const Read problem = read_into(text, address);
    if (!problem) return address;
    std::string reason = fmt::format("ParseAddr({}): {}", kube::go_quoted(text), problem->what);
    if (!problem->at.empty()) reason += fmt::format(" (at {})", kube::go_quoted(problem->at));
    return std::unexpected(std::move(reason));
}

}  // namespace muster::cel
