#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace muster::cel {

/// How Kubernetes keeps a quantity: as a whole number times a power of ten where 64 bits are
/// enough, as a decimal otherwise. It shows: "1000m" and "1Ei" are no integers to it
/// (k8s.io/apimachinery v0.33, pkg/api/resource).
class QuantityAmount {
  public:
    /// Of a text that is a quantity.
    static QuantityAmount of_text(std::string_view text);
    static QuantityAmount of_units(std::int64_t units) { return {units, 0}; }

    QuantityAmount plus(QuantityAmount other) const;
    QuantityAmount minus(QuantityAmount other) const;
    std::optional<std::int64_t> integer() const;
    /// The power of ten of which it is a multiple, -9 to 18.
    int scale() const { return scale_; }

  private:
    static QuantityAmount decimal(int scale);
    QuantityAmount(std::int64_t value, int scale) : value_(value), scale_(scale) {}

    std::int64_t value_ = 0;  ///< not of a decimal
    int scale_ = 0;
    bool is_decimal_ = false;
};

}  // namespace muster::cel
