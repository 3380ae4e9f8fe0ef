#include "cel/internal/costs/call_estimate.h"

#include <algorithm>
#include <array>

namespace muster::cel {
namespace {

using Estimates = std::span<const EstimatedArgument>;

constexpr double kLongestNamePattern = 128;

/// The most that it takes to read a selector of such a length.
Range selector_cost(Range length) {
    const Range requirements = length.scaled_by(kRequirementsOfSelector);
    return Range::exactly(kListCost)
        .plus(length.scaled_by(kTraversalFactor))
        .plus(requirements.scaled_by(kRequirementCost));
}

Range regex_cost(Range text, Range pattern) {
    return text.plus(Range::exactly(1))
        .scaled_by(kTraversalFactor)
        .times(pattern.scaled_by(kRegexFactor));
}

/// Of a text that is an element of the list.
Range element_size(const EstimatedArgument& list) {
    if (!list.element) return Range::unknown();
    return {0, static_cast<std::uint64_t>(list.element->max_elements)};
}

EstimatedCall of_whole_list(const EstimatedArgument& list) {
    if (list.type.kind() != Type::Kind::kList)
        return {list.size.scaled_by(kTraversalFactor), std::nullopt};
    Range each = Range::exactly(1);
    const Type& element = list.type.parameters()[0];
    if (element.kind() == Type::Kind::kString || element.kind() == Type::Kind::kBytes)
        each = each.plus(element_size(list).scaled_by(kTraversalFactor));
    return {list.size.times(each), std::nullopt};
}

EstimatedCall of_replace(Estimates arguments) {
    const Range text = arguments[0].size;
    const Range from = arguments[1].size;
    const Range to = arguments[2].size;
    Range count;
    Range kept;
    if (from.least == 0) {
        count.most = bounded_sum(text.most, 1);
        kept.most = text.most;
    } else if (to.most <= from.least) {
        kept.most = text.most;
    } else {
        count.most =
            text.most == kUnbounded ? kUnbounded : (text.most + from.least - 1) / from.least;
    }
    if (from.most == 0) {
        count.least = bounded_sum(text.least, 1);
        kept.least = text.least;
    } else if (from.most <= to.least) {
        kept.least = text.least;
    } else {
        count.least = text.least / from.most + (text.least % from.most != 0 ? 1 : 0);
    }
    return {text.scaled_by(2 * kTraversalFactor), count.times(to).plus(kept)};
}

EstimatedCall of_split(Estimates arguments) {
    std::uint64_t most = arguments[0].size.most;
    if (arguments.size() > 2 && arguments[2].literal)
        most = static_cast<std::uint64_t>(*arguments[2].literal);
    return {arguments[0].size.scaled_by(2 * kTraversalFactor), Range{0, most}};
}

EstimatedCall of_join(Estimates arguments) {
    const EstimatedArgument& list = arguments[0];
    Range size;  // upstream: nothing, where the type of the elements is not known
    if (!list.type.parameters().empty()) size = list.size.times(element_size(list));
    if (arguments.size() > 1) {
        const Range gaps{list.size.least > 0 ? list.size.least - 1 : 0,
                         list.size.most > 0 ? list.size.most - 1 : 0};
        size = size.plus(arguments[1].size.times(gaps));
    }
    return {size.scaled_by(kTraversalFactor), size};
}

EstimatedCall of_ranges(std::string_view overload, bool of_range, Estimates arguments) {
    const Range bytes{4, 16};
    Range cost = bytes.plus(bytes).scaled_by(kTraversalFactor);
    if (of_range) cost = cost.plus(bytes.scaled_by(kTraversalFactor)).plus(Range::exactly(1));
    if (overload.ends_with("_string"))
        cost = cost.plus(arguments[1].size.scaled_by(kTraversalFactor));
    return {cost, std::nullopt};
}

std::optional<EstimatedCall> of_equality(Estimates arguments) {
    if (arguments.size() != 2 || !(arguments[0].type == arguments[1].type)) return std::nullopt;
    const Type& type = arguments[0].type;
    if (type.kind() != Type::Kind::kOpaque || type.is_optional()) return std::nullopt;
    if (type.name() == "kubernetes.NamedFormat")
        return EstimatedCall{Range{1, 64}.scaled_by(kTraversalFactor), std::nullopt};
    if (type.name() == "kubernetes.URL")
        return EstimatedCall{
            Range{1, arguments[1].size.most == kUnbounded ? 1 : arguments[1].size.most}.scaled_by(
                kTraversalFactor),
            std::nullopt};
    return EstimatedCall{Range::exactly(1), std::nullopt};
}

constexpr std::array<std::string_view, 4> kSameSize = {"lowerAscii", "upperAscii", "substring",
                                                       "trim"};
// Functions that read a text.
constexpr std::array<std::string_view, 7> kReads = {"cidr",       "isIP",   "isCIDR",  "quantity",
                                                    "isQuantity", "semver", "isSemver"};
constexpr std::array<std::string_view, 38> kConstant = {"serviceAccount",
                                                        "path",
                                                        "group",
                                                        "resource",
                                                        "subresource",
                                                        "namespace",
                                                        "name",
                                                        "allowed",
                                                        "reason",
                                                        "error",
                                                        "errored",
                                                        "masked",
                                                        "prefixLength",
                                                        "family",
                                                        "isUnspecified",
                                                        "isLoopback",
                                                        "isLinkLocalMulticast",
                                                        "isLinkLocalUnicast",
                                                        "isGlobalUnicast",
                                                        "format.named",
                                                        "sign",
                                                        "asInteger",
                                                        "isInteger",
                                                        "asApproximateFloat",
                                                        "isGreaterThan",
                                                        "isLessThan",
                                                        "compareTo",
                                                        "add",
                                                        "sub",
                                                        "major",
                                                        "minor",
                                                        "patch",
                                                        "getScheme",
                                                        "getHostname",
                                                        "getHost",
                                                        "getPort",
                                                        "getEscapedPath",
                                                        "getQuery"};

}  // namespace

std::optional<EstimatedCall> estimate_library_call(std::string_view function,
                                                   std::string_view overload, bool member,
                                                   Estimates arguments) {
    if (function == "_==_") return of_equality(arguments);
    if (is_one_of(function, kConstant)) return EstimatedCall{Range::exactly(1), std::nullopt};
    if (function == "check") return EstimatedCall{Range::exactly(kAuthorizationCost), std::nullopt};
    if (arguments.empty()) return std::nullopt;
    if (function == "fieldSelector" || function == "labelSelector")
        return EstimatedCall{
            arguments.size() == 2 ? selector_cost(arguments[1].size) : Range::exactly(1),
            std::nullopt};
    const Range first = arguments[0].size;
    if (is_one_of(function, kWholeTraversals)) return of_whole_list(arguments[0]);
    if (function == "url") return EstimatedCall{first.scaled_by(kTraversalFactor), first};
    if (is_one_of(function, kSameSize))
        return EstimatedCall{first.scaled_by(kTraversalFactor), first};
    if (function == "replace") return of_replace(arguments);
    if (function == "split") return of_split(arguments);
    if (function == "join") return of_join(arguments);
    if (function == "find" || function == "findAll")
        return EstimatedCall{regex_cost(first, arguments[1].size), Range{0, first.most}};
    if (is_one_of(function, kReads))
        return EstimatedCall{first.scaled_by(kTraversalFactor), std::nullopt};
    if (function == "ip")
        return EstimatedCall{member ? Range::exactly(1) : first.scaled_by(kTraversalFactor),
                             std::nullopt};
    if (function == "ip.isCanonical")
        return EstimatedCall{first.scaled_by(2 * kTraversalFactor), std::nullopt};
    if (function == "containsIP" || function == "containsCIDR")
        return of_ranges(overload, function == "containsCIDR", arguments);
    if (function.starts_with("sets.")) {
        const Range pairs = first.times(arguments[1].size);
        const double factor = function == "sets.equivalent" ? 2 : 1;
        return EstimatedCall{pairs.scaled_by(factor).plus(Range::exactly(1)), std::nullopt};
    }
    if (function == "validate")
        return EstimatedCall{arguments[1]
                                 .size.scaled_by(kTraversalFactor)
                                 .scaled_by(kLongestNamePattern * kRegexFactor),
                             std::nullopt};
    return std::nullopt;
}

EstimatedCall estimate_standard_call(std::string_view overload, bool member, Estimates arguments) {
    const EstimatedCall one{Range::exactly(1), std::nullopt};
    if (arguments.empty()) return one;
    const Range first = arguments[0].size;
    if (overload == "string_format") return {first.scaled_by(kTraversalFactor), std::nullopt};
    if (overload == "string_to_bytes")
        return {first.scaled_by(kTraversalFactor),
                Range{first.least, bounded_product(first.most, 4)}};
    if (overload == "bytes_to_string")
        return {first.scaled_by(kTraversalFactor), Range{first.least / 4, first.most}};
    if (overload == "strings_quote")
        return {first.scaled_by(kTraversalFactor),
                // Wraps where the size is not known, as upstream: nothing is left of it.
                Range{bounded_sum(first.least, 2), first.most * 2 + 2}};
    // By the argument and not by the target, as upstream.
    if (overload == "starts_with_string" || overload == "ends_with_string")
        return {arguments[1].size.scaled_by(kTraversalFactor), std::nullopt};
    if (overload == "in_list") return {arguments[1].size, std::nullopt};
    if (overload == "matches_string" && member)
        return {regex_cost(first, arguments[1].size), std::nullopt};
    if (overload == "contains_string")
        return {
            first.scaled_by(kTraversalFactor).times(arguments[1].size.scaled_by(kTraversalFactor)),
            std::nullopt};
    if (overload == "add_list") return {Range::exactly(1), first.plus(arguments[1].size)};
    if (overload == "add_string" || overload == "add_bytes") {
        const Range size = first.plus(arguments[1].size);
        return {size.scaled_by(kTraversalFactor), size};
    }
    if (is_one_of(overload, kTextComparisons)) {
        const std::uint64_t most = std::min(first.most, arguments[1].size.most);
        return {Range{most > 0 ? 1u : 0u, most}.scaled_by(kTraversalFactor), std::nullopt};
    }
    return one;
}

}  // namespace muster::cel
