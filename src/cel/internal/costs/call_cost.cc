#include "cel/internal/costs/call_cost.h"

#include <algorithm>
#include <array>

#include "cel/internal/costs/costs.h"
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

/// So that an expression has two checks at most.
constexpr std::uint64_t kAuthorizationCost = 350'000;
/// What it takes to read a selector of so many characters.
std::uint64_t selector_cost(std::uint64_t size) {
    constexpr std::uint64_t kList = 10;
    constexpr double kRequirements = 0.5;
    constexpr double kEach = 50;
    return kList + traversal(size) + scaled(scaled(size, kRequirements), kEach);
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
    // Addresses and ranges have the size 1 in cel-go.
    if (function == "containsIP")
        return traversal(size + size) +
               (overload == "cidr_contains_ip_string" ? traversal(arguments[1].size()) : 0);
    if (function == "containsCIDR")
        return traversal(size + size) + traversal(size) + 1 +
               (overload == "cidr_contains_cidr_string" ? traversal(arguments[1].size()) : 0);
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
