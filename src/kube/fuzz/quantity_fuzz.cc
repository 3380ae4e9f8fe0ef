// Any text: parsing accepts or refuses it; an accepted quantity has one canonical form, and
// arithmetic is consistent.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "kube/values/quantity.h"

using muster::Result;
using muster::kube::Quantity;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const Result<Quantity> parsed = Quantity::parse(text);
    if (!parsed) {
        CHECK(!parsed.error().message().empty(), "a refusal says why");
        CHECK(parsed.error().message().size() < 400, "a message stays short");
        return 0;
    }
    const Quantity quantity = *parsed;
    const std::string canonical = quantity.to_string();
    CHECK(canonical.size() < 40, "a canonical form is short");
    const Result<Quantity> again = Quantity::parse(canonical);
    CHECK(again.has_value(), "a canonical form is a quantity");
    CHECK(*again == quantity, "parse(to_string(q)) == q");
    CHECK(again->to_string() == canonical, "there is one canonical form");

    CHECK(quantity.is_zero() == (canonical == "0"), "zero is written 0");
    CHECK(quantity.is_negative() == (canonical.front() == '-'), "the sign is kept");
    CHECK((quantity - quantity).is_zero(), "q - q == 0");
    CHECK(quantity + Quantity() == quantity, "q + 0 == q");

    const Quantity negative = Quantity() - quantity;
    CHECK(negative + quantity == Quantity(), "-q + q == 0");
    CHECK((negative < quantity) == (Quantity() < quantity), "-q < q for a positive q");
    const std::int64_t units = quantity.ceil_units();
    if (units > INT64_MIN && units < INT64_MAX) {
        const Quantity whole = Quantity::from_units(units);
        const Quantity one = Quantity::from_units(1);
        CHECK(quantity.is_negative() ? whole <= quantity : whole >= quantity,
              "units round away from zero");
        CHECK(quantity.is_negative() ? quantity < whole + one : whole - one < quantity,
              "and by less than one");
    }
    return 0;
}
