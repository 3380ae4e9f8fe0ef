#pragma once

#include <boost/json/value.hpp>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "kube/json.h"

namespace muster::kube {

/// A Kubernetes resource quantity ("500m", "1.5Gi", "1e3"): an exact decimal. Sums and comparisons
/// do not round; parsing rounds up below one nano, as the real one does.
class Quantity {
  public:
    enum class Format { kDecimalSi, kBinarySi, kDecimalExponent };

    Quantity() = default;
    static Quantity from_units(std::int64_t units, Format format = Format::kDecimalSi);
    static Quantity from_milli(std::int64_t milli);

    static Result<Quantity> parse(std::string_view text);
    /// A JSON string or number.
    static Result<Quantity> parse(const json::value& value);

    /// Whole units, rounded up (what limits are compared with).
    std::int64_t ceil_units() const;
    std::int64_t ceil_milli() const;
    /// The canonical form: "1536Mi" for "1.5Gi", "1" for "1000m".
    std::string to_string() const;
    bool is_negative() const { return nano_ < 0; }
    bool is_zero() const { return nano_ == 0; }

    friend Quantity operator+(Quantity a, Quantity b) {
        a.nano_ += b.nano_;
        return a;
    }
    friend Quantity operator-(Quantity a, Quantity b) {
        a.nano_ -= b.nano_;
        return a;
    }
    friend bool operator==(const Quantity& a, const Quantity& b) { return a.nano_ == b.nano_; }
    friend auto operator<=>(const Quantity& a, const Quantity& b) { return a.nano_ <=> b.nano_; }

  private:
    __extension__ typedef __int128 Nano;
    Nano nano_ = 0;  ///< billionths; 128 bits hold any quantity that the format allows
    Format format_ = Format::kDecimalSi;
};

}  // namespace muster::kube
