#pragma once

#include <array>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

#include "cel/internal/library/address_text.h"
#include "cel/value.h"

namespace muster::cel {

/// An IP address of either version. Those of version 4 that are written as version 6 are refused,
/// and so are zones, as in Kubernetes.
class Address final : public Opaque {
  public:
    explicit Address(const AddressText& read) : v4_(read.is_v4), bytes_(read.bytes) {}
    static std::expected<Address, std::string> parse(std::string_view text);

    std::string_view type_name() const override { return "net.IP"; }
    std::string content() const override { return text(); }
    bool is_v4() const { return v4_; }
    int bits() const { return v4_ ? 32 : 128; }
    /// The canonical form (RFC 5952).
    std::string text() const;
    bool bit(int index) const;
    Address masked(int prefix) const;
    std::uint8_t byte(std::size_t index) const { return bytes_[index]; }

  private:
    bool v4_ = true;
    std::array<std::uint8_t, 16> bytes_{};  ///< the first four of version 4
};

/// An address and how many of its bits name the network.
class AddressRange final : public Opaque {
  public:
    AddressRange(Address address, int prefix) : address_(address), prefix_(prefix) {}
    static std::expected<AddressRange, std::string> parse(std::string_view text);

    std::string_view type_name() const override { return "net.CIDR"; }
    std::string content() const override { return text(); }
    std::string text() const;
    const Address& address() const { return address_; }
    int prefix() const { return prefix_; }
    bool contains(const Address& address) const;

  private:
    Address address_;
    int prefix_ = 0;
};

}  // namespace muster::cel
