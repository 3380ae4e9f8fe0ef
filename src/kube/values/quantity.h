#pragma once

#include <boost/json/value.hpp>
#include <compare>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "kube/values/json.h"

namespace muster::kube {

/// A Kubernetes resource quantity ("500m", "1.5Gi", "1e3"): an exact decimal. Sums and comparisons
/// do not round; parsing rounds away from zero below one nano, as the real one does (apimachinery
/// pkg/api/resource/quantity.go). The range is +-10^27 units, far beyond any resource; a binary
/// quantity is capped at 2^63-1, as in the real one.
class Quantity {
  public:
    enum class Format { kDecimalSi, kBinarySi, kDecimalExponent };

    Quantity() = default;
    static Quantity from_units(std::int64_t units, Format format = Format::kDecimalSi);
    static Quantity from_milli(std::int64_t milli);

    /// kInvalid, with the reason, if the text is not a quantity.
    static Result<Quantity> parse(std::string_view text);
    /// A JSON string (surrounding blanks are ignored), number, or null, which is zero. A template
    /// only so that texts do not convert to JSON and make the call ambiguous.
    template <std::same_as<json::value> Value>
    static Result<Quantity> parse(const Value& value) {
        return parse_json(value);
    }

    /// Whole units and thousandths, rounded away from zero (limits are compared with these), and
    /// clamped to the range of the integer.
    std::int64_t ceil_units() const;
    std::int64_t ceil_milli() const;
    /// The canonical form: "1536Mi" for "1.5Gi", "1" for "1000m". Parsing it gives an equal
    /// quantity.
    std::string to_string() const;
    /// In units; the nearest double.
    double approximate() const { return static_cast<double>(nano_) / 1e9; }
    /// How many of 10^`exponent` (-9 at least) it has, without a fraction; the nearest double.
    double approximate_multiple(int exponent) const;
    bool is_negative() const { return nano_ < 0; }
    bool is_zero() const { return nano_ == 0; }

    /// In the left side's format unless that is zero. A sum beyond the range is clamped.
    friend Quantity operator+(Quantity a, Quantity b) { return a.add(b.nano_, b.format_); }
    friend Quantity operator-(Quantity a, Quantity b) { return a.add(-b.nano_, b.format_); }
    friend bool operator==(const Quantity& a, const Quantity& b) { return a.nano_ == b.nano_; }
    friend auto operator<=>(const Quantity& a, const Quantity& b) { return a.nano_ <=> b.nano_; }

  private:
    __extension__ typedef __int128 Nano;

    static Result<Quantity> parse_json(const json::value& value);
    Quantity(Nano nano, Format format) : nano_(nano), format_(format) {}
    Quantity add(Nano nano, Format format) const;
    std::int64_t ceil_to(Nano unit) const;

    Nano nano_ = 0;  ///< billionths, within +-10^36
    Format format_ = Format::kDecimalSi;
};

}  // namespace muster::kube
