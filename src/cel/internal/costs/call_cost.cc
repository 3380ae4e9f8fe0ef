#include "cel/internal/costs/call_cost.h"

#include <algorithm>
#include <array>

#include "cel/internal/costs/costs.h"
#include "cel/internal/library/addresses.h"
#include "cel/internal/library/named_format.h"

namespace muster::cel {
namespace {

using Values = std::span<const Value>;

std::uint64_t traversal(std::uint64_t size, double factor = 1) {
    return scaled(size, factor * kTraversalFactor);
}
std::uint64_t regex_cost(std::uint64_t text, std::uint64_t pattern) {
    return scaled(text + 1, kTraversalFactor) * scaled(pattern, kRegexFactor);
}

/// What it takes to read a selector of so many characters.
std::uint64_t selector_cost(std::uint64_t size) {
    return kListCost + traversal(size) +
           scaled(scaled(size, kRequirementsOfSelector), kRequirementCost);
}

/// Once through all that a value holds.
std::uint64_t whole_traversal(const Value& value) {
    if (const Text* text = value.string())
        return static_cast<std::uint64_t>(static_cast<double>(text->view().size()) *
                                          kTraversalFactor);
    if (const Bytes* bytes = value.as<Bytes>())
        return static_cast<std::uint64_t>(static_cast<double>(bytes->text.view().size()) *
                                          kTraversalFactor);
    std::uint64_t cost = 0;
    if (const List* list = value.list()) {
        for (std::size_t i = 0; i < list->size(); ++i) cost += whole_traversal(list->at(i));
        return cost;
    }
    if (const Map* map = value.map()) {
        map->for_each([&](const Value& key, const Value& held) {
            cost += whole_traversal(key) + whole_traversal(held);
            return true;
        });
        return cost;
    }
    return 1;
}

/// The size of a range is that of its prefix, in bytes.
std::uint64_t range_cost(bool of_range, std::string_view overload, Values arguments) {
    const auto* range = arguments[0].opaque<AddressRange>();
    const auto size = range != nullptr ? static_cast<std::uint64_t>(range->prefix() + 7) / 8
                                       : arguments[0].size();
    std::uint64_t cost = traversal(size + size);
    if (of_range) cost += traversal(size) + 1;
    if (overload.ends_with("_string")) cost += traversal(arguments[1].size());
    return cost;
}

/// Of the libraries, by the function's name; nothing for functions of the standard.
std::optional<std::uint64_t> library_cost(std::string_view function, std::string_view overload,
                                          Values arguments, const Value* result) {
    constexpr std::array<std::string_view, 12> kOnce = {
        "url",  "lowerAscii", "upperAscii", "substring",  "trim",   "cidr",
        "isIP", "isCIDR",     "quantity",   "isQuantity", "semver", "isSemver"};
    constexpr std::array<std::string_view, 4> kTwice = {"replace", "split", "ip.isCanonical",
                                                        "join"};
    if (arguments.empty()) return std::nullopt;
    const std::uint64_t size = arguments[0].size();
    if (is_one_of(function, kWholeTraversals)) return whole_traversal(arguments[0]);
    if (is_one_of(function, kOnce)) return traversal(size);
    if (function == "ip") return overload == "cidr_ip" ? 1 : traversal(size);
    if (is_one_of(function, kTwice))
        return traversal(function == "join" && result ? result->size() : size, 2);
    if (function == "find" || function == "findAll") return regex_cost(size, arguments[1].size());
    if (function == "containsIP" || function == "containsCIDR")
        return range_cost(function == "containsCIDR", overload, arguments);
    if (function == "validate")
        if (const auto* format = arguments[0].opaque<NamedFormat>())
            return regex_cost(arguments[1].size(), format->longest_pattern());
    if (function.starts_with("sets.")) {
        const std::uint64_t pairs = size * arguments[1].size();
        return 1 + (function == "sets.equivalent" ? 2 * pairs : pairs);
    }
    if (function == "check") return kAuthorizationCost;
    if (function == "fieldSelector" || function == "labelSelector")
        return arguments.size() < 2 ? 1 : selector_cost(arguments[1].size());
    if (function == "_==_" && arguments[0].as<std::shared_ptr<const Opaque>>()) return 1;
    return std::nullopt;
}

}  // namespace

std::uint64_t call_cost(std::string_view function, std::string_view overload, Values arguments,
                        const Value* result) {
    if (const auto cost = library_cost(function, overload, arguments, result)) return *cost;
    constexpr std::array<std::string_view, 6> kOnce = {"starts_with_string", "ends_with_string",
                                                       "string_to_bytes",    "bytes_to_string",
                                                       "strings_quote",      "string_format"};
    if (is_one_of(overload, kOnce)) return traversal(arguments[0].size());
    if (overload == "in_list") return arguments[1].size();
    if (is_one_of(overload, kTextComparisons))
        return traversal(std::min(arguments[0].size(), arguments[1].size()));
    if (overload == "add_string" || overload == "add_bytes")
        return traversal(arguments[0].size() + arguments[1].size());
    if (overload == "matches_string") return regex_cost(arguments[0].size(), arguments[1].size());
    if (overload == "contains_string")
        return traversal(arguments[0].size()) * traversal(arguments[1].size());
    return 1;
}

}  // namespace muster::cel
