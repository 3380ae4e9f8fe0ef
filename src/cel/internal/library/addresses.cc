#include "cel/internal/library/addresses.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/parse_number.h"
#include "cel/internal/library/arguments.h"
#include "cel/internal/library/parts.h"
#include "kube/values/go_quote.h"

namespace muster::cel {

namespace {

/// An address of version 4 in the form of version 6.
bool is_mapped(const AddressText& read) {
    constexpr std::array<std::uint8_t, 12> kMapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    return !read.is_v4 && std::ranges::equal(kMapped, std::span(read.bytes).first(12));
}
std::string mapped_refusal(std::string_view text) {
    return fmt::format("IPv4-mapped IPv6 address {} is not allowed", kube::go_quoted(text));
}

}  // namespace

std::expected<Address, std::string> Address::parse(std::string_view text) {
    const std::expected<AddressText, std::string> read = read_address(text);
    if (!read)
        return std::unexpected(
            fmt::format("IP Address {} parse error during conversion from string: {}",
                        kube::go_quoted(text), read.error()));
    if (read->has_zone)
        return std::unexpected(
            fmt::format("IP address {} with zone value is not allowed", kube::go_quoted(text)));
    if (is_mapped(*read)) return std::unexpected(mapped_refusal(text));
    return Address(*read);
}

std::string Address::text() const {
    if (v4_) return fmt::format("{}.{}.{}.{}", bytes_[0], bytes_[1], bytes_[2], bytes_[3]);
    std::array<unsigned, 8> groups{};
    for (std::size_t i = 0; i < 8; ++i)
        groups[i] = static_cast<unsigned>(bytes_[2 * i]) << 8 | bytes_[2 * i + 1];
    // The first of the longest runs of two or more zeros is left out.
    std::size_t begin = 8;
    std::size_t length = 1;
    for (std::size_t i = 0; i < 8; ++i) {
        std::size_t end = i;
        while (end < 8 && groups[end] == 0) ++end;
        if (end - i > length) {
            begin = i;
            length = end - i;
        }
    }
    std::string text;
    for (std::size_t i = 0; i < 8;) {
        if (i == begin) {
            text += "::";
            i += length;
            continue;
        }
        if (!text.empty() && !text.ends_with(':')) text += ':';
        text += fmt::format("{:x}", groups[i]);
        ++i;
    }
    return text;
}

bool Address::bit(int index) const {
    const auto at = static_cast<std::size_t>(index);
    return (bytes_[at / 8] >> (7 - at % 8) & 1) != 0;
}

Address Address::masked(int prefix) const {
    Address network = *this;
    for (int i = prefix; i < bits(); ++i) {
        const auto at = static_cast<std::size_t>(i);
        network.bytes_[at / 8] &= static_cast<std::uint8_t>(~(1u << (7 - at % 8)));
    }
    return network;
}

std::expected<AddressRange, std::string> AddressRange::parse(std::string_view text) {
    auto unreadable = [&](std::string_view why) {
        return std::unexpected(
            fmt::format("network address parse error during conversion from string: "
                        "netip.ParsePrefix({}): {}",
                        kube::go_quoted(text), why));
    };
    const std::size_t slash = text.rfind('/');
    if (slash == text.npos) return unreadable("no '/'");
    const std::expected<AddressText, std::string> read = read_address(text.substr(0, slash));
    if (!read) return unreadable(read.error());
    if (read->has_zone) return unreadable("IPv6 zones cannot be present in a prefix");
    const Address address(*read);
    const std::string_view digits = text.substr(slash + 1);
    const bool leads_with_zero = digits.size() > 1 && digits.front() == '0';
    const auto prefix =
        leads_with_zero || digits.starts_with('-') ? std::nullopt : parse_number<int>(digits);
    if (!prefix) return unreadable("bad bits after slash: " + kube::go_quoted(digits));
    if (*prefix > address.bits()) return unreadable("prefix length out of range");
    if (is_mapped(*read)) return std::unexpected(mapped_refusal(text));
    return AddressRange(address, *prefix);
}

std::string AddressRange::text() const { return fmt::format("{}/{}", address_.text(), prefix_); }

bool AddressRange::contains(const Address& address) const {
    if (address.is_v4() != address_.is_v4()) return false;
    for (int i = 0; i < prefix_; ++i)
        if (address.bit(i) != address_.bit(i)) return false;
    return true;
}

namespace {

Value value_of(Address address) {
    return std::shared_ptr<const Opaque>(std::make_shared<Address>(address));
}

Outcome ip(Arguments arguments) {
    if (const auto* range = arguments[0].opaque<AddressRange>()) return value_of(range->address());
    const Text* text = argument<Text>(arguments, 0);
    if (text == nullptr) return no_such_overload();
    std::expected<Address, std::string> address = Address::parse(text->view());
    if (!address) return failure(std::move(address).error());
    return value_of(*address);
}
Outcome is_ip(Arguments arguments) {
    const Text* text = argument<Text>(arguments, 0);
    if (text == nullptr) return no_such_overload();
    return Address::parse(text->view()).has_value();
}
Outcome is_canonical(Arguments arguments) {
    const Text* text = argument<Text>(arguments, 0);
    if (text == nullptr) return no_such_overload();
    std::expected<Address, std::string> address = Address::parse(text->view());
    if (!address) return failure(std::move(address).error());
    return address->text() == text->view();
}

Outcome family(Arguments arguments) {
    return part_of<Address>(arguments, [](const Address& address) {
        return Value(std::int64_t{address.is_v4() ? 4 : 6});
    });
}
bool is_unspecified(const Address& address) {
    return address.masked(0).content() == address.content();
}
bool is_loopback(const Address& address) {
    return address.is_v4() ? address.byte(0) == 127 : address.text() == "::1";
}
bool is_multicast(const Address& address) {
    return address.is_v4() ? (address.byte(0) & 0xf0u) == 0xe0u : address.byte(0) == 0xff;
}
bool is_link_local_multicast(const Address& address) {
    if (address.is_v4())
        return address.byte(0) == 224 && address.byte(1) == 0 && address.byte(2) == 0;
    return address.byte(0) == 0xff && (address.byte(1) & 0x0fu) == 0x02u;
}
bool is_link_local_unicast(const Address& address) {
    if (address.is_v4()) return address.byte(0) == 169 && address.byte(1) == 254;
    return address.byte(0) == 0xfe && (address.byte(1) & 0xc0u) == 0x80u;
}
bool is_global_unicast(const Address& address) {
    const bool broadcast = address.is_v4() && address.text() == "255.255.255.255";
    return !broadcast && !is_unspecified(address) && !is_loopback(address) &&
           !is_multicast(address) && !is_link_local_unicast(address);
}
template <bool (*Test)(const Address&)>
Outcome tested(Arguments arguments) {
    return part_of<Address>(arguments, [](const Address& address) { return Value(Test(address)); });
}

Outcome cidr(Arguments arguments) {
    const Text* text = argument<Text>(arguments, 0);
    if (text == nullptr) return no_such_overload();
    std::expected<AddressRange, std::string> range = AddressRange::parse(text->view());
    if (!range)
        return failure("network address parse error during conversion from string: " +
                       range.error());
    return std::shared_ptr<const Opaque>(std::make_shared<AddressRange>(*range));
}
Outcome is_cidr(Arguments arguments) {
    const Text* text = argument<Text>(arguments, 0);
    if (text == nullptr) return no_such_overload();
    return AddressRange::parse(text->view()).has_value();
}
Outcome contains_ip(Arguments arguments) {
    const auto* range = arguments[0].opaque<AddressRange>();
    if (range == nullptr) return no_such_overload();
    const Outcome other = argument<Text>(arguments, 1) ? ip(arguments.subspan(1)) : arguments[1];
    // Upstream does not say why the text is no address (cidrContainsIP, pkg/cel/library/cidr.go).
    if (!other) return no_such_overload();
    const auto* address = other->opaque<Address>();
    if (address == nullptr) return no_such_overload();
    return range->contains(*address);
}
Outcome contains_cidr(Arguments arguments) {
    const auto* range = arguments[0].opaque<AddressRange>();
    if (range == nullptr) return no_such_overload();
    const Outcome other = argument<Text>(arguments, 1) ? cidr(arguments.subspan(1)) : arguments[1];
    if (!other) return other;
    const auto* inner = other->opaque<AddressRange>();
    if (inner == nullptr) return no_such_overload();
    return inner->prefix() >= range->prefix() && range->contains(inner->address());
}
Outcome prefix_length(Arguments arguments) {
    return part_of<AddressRange>(
        arguments, [](const AddressRange& range) { return Value(std::int64_t{range.prefix()}); });
}
Outcome masked(Arguments arguments) {
    return part_of<AddressRange>(arguments, [](const AddressRange& range) {
        return Value(std::shared_ptr<const Opaque>(std::make_shared<AddressRange>(
            range.address().masked(range.prefix()), range.prefix())));
    });
}

constexpr NamedFunction kFunctions[] = {
    {"ip", ip},
    {"isIP", is_ip},
    {"ip.isCanonical", is_canonical},
    {"family", family},
    {"isUnspecified", tested<is_unspecified>},
    {"isLoopback", tested<is_loopback>},
    {"isLinkLocalMulticast", tested<is_link_local_multicast>},
    {"isLinkLocalUnicast", tested<is_link_local_unicast>},
    {"isGlobalUnicast", tested<is_global_unicast>},
    {"cidr", cidr},
    {"isCIDR", is_cidr},
    {"containsIP", contains_ip},
    {"containsCIDR", contains_cidr},
    {"prefixLength", prefix_length},
    {"masked", masked},
};

}  // namespace

std::span<const NamedFunction> address_functions() { return kFunctions; }

}  // namespace muster::cel
