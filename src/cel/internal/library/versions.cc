#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/parse_number.h"
#include "cel/internal/characters.h"
#include "cel/internal/library/arguments.h"
#include "cel/internal/library/comparisons.h"

// Semantic versions (semver.org, version 2), as blang/semver reads them for Kubernetes.

namespace muster::cel {
namespace {

struct Version {
    std::uint64_t major = 0;
    std::uint64_t minor = 0;
    std::uint64_t patch = 0;
    std::vector<std::string> pre_release;
    std::string build;
};

class VersionValue final : public Opaque {
  public:
    explicit VersionValue(Version version) : version_(std::move(version)) {}
    std::string_view type_name() const override { return "kubernetes.Semver"; }
    // What was built how does not count.
    std::string content() const override {
        std::string text = fmt::format("{}.{}.{}", version_.major, version_.minor, version_.patch);
        for (const std::string& part : version_.pre_release) text += "-" + part;
        return text;
    }
    const Version& get() const { return version_; }

  private:
    Version version_;
};

bool is_digits(std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, is_digit);
}
bool is_identifier(std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, [](char c) {
        return is_digit(c) || is_letter(c) || c == '-';
    });
}
std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    for (;;) {
        const std::size_t end = text.find(separator);
        parts.push_back(text.substr(0, end));
        if (end == text.npos) return parts;
        text.remove_prefix(end + 1);
    }
}

/// A number without leading zeros.
std::optional<std::uint64_t> number_of(std::string_view text) {
    if (!is_digits(text) || (text.size() > 1 && text.front() == '0')) return std::nullopt;
    return parse_number<std::uint64_t>(text);
}

std::expected<Version, std::string> parse_version(std::string_view text) {
    if (text.empty()) return std::unexpected("Version string empty");
    const std::size_t first = text.find('.');
    const std::size_t second = first == text.npos ? text.npos : text.find('.', first + 1);
    if (second == text.npos) return std::unexpected("No Major.Minor.Patch elements found");
    std::string_view rest = text.substr(second + 1);
    std::string_view build;
    if (const std::size_t mark = rest.find('+'); mark != rest.npos) {
        build = rest.substr(mark + 1);
        for (std::string_view part : split(build, '.'))
            if (!is_identifier(part))
                return std::unexpected(
                    fmt::format("Invalid character(s) found in build meta data \"{}\"", part));
        rest = rest.substr(0, mark);
    }
    Version version;
    version.build = build;
    if (const std::size_t mark = rest.find('-'); mark != rest.npos) {
        for (std::string_view part : split(rest.substr(mark + 1), '.')) {
            const bool leading_zero = is_digits(part) && part.size() > 1 && part.front() == '0';
            if (!is_identifier(part) || leading_zero)
                return std::unexpected(
                    fmt::format("Invalid character(s) found in prerelease \"{}\"", part));
            version.pre_release.emplace_back(part);
        }
        rest = rest.substr(0, mark);
    }
    const auto major = number_of(text.substr(0, first));
    const auto minor = number_of(text.substr(first + 1, second - first - 1));
    const auto patch = number_of(rest);
    if (!major || !minor || !patch)
        return std::unexpected(
            fmt::format("Invalid character(s) found in major, minor or patch of \"{}\"", text));
    version.major = *major;
    version.minor = *minor;
    version.patch = *patch;
    return version;
}

/// "v1.02" as "1.2.0".
std::expected<std::string, std::string> normalized(std::string_view text) {
    if (text.starts_with('v')) text.remove_prefix(1);
    std::vector<std::string> parts;
    while (parts.size() < 2 && text.find('.') != text.npos) {
        parts.emplace_back(text.substr(0, text.find('.')));
        text.remove_prefix(text.find('.') + 1);
    }
    parts.emplace_back(text);
    for (std::string& part : parts) {
        if (part.size() < 2) continue;
        part.erase(0, std::min(part.find_first_not_of('0'), part.size()));
        if (part.empty() || part.front() < '0' || part.front() > '9') part.insert(0, 1, '0');
    }
    if (parts.size() < 3 && parts.back().find_first_of("+-") != std::string::npos)
        return std::unexpected("short version cannot contain PreRelease/Build meta data");
    while (parts.size() < 3) parts.emplace_back("0");
    return parts[0] + "." + parts[1] + "." + parts[2];
}

std::expected<Version, std::string> version_of(Arguments arguments) {
    const std::string_view text = arguments[0].string()->view();
    const bool* normalize = argument<bool>(arguments, 1);
    if (normalize == nullptr || !*normalize) return parse_version(text);
    const std::expected<std::string, std::string> full = normalized(text);
    if (!full) return std::unexpected(full.error());
    return parse_version(*full);
}
bool fits(Arguments arguments) {
    return argument<Text>(arguments, 0) && (arguments.size() == 1 || argument<bool>(arguments, 1));
}

Outcome semver(Arguments arguments) {
    if (!fits(arguments)) return no_such_overload();
    std::expected<Version, std::string> version = version_of(arguments);
    if (!version) return failure(std::move(version).error());
    return std::shared_ptr<const Opaque>(std::make_shared<VersionValue>(*std::move(version)));
}
Outcome is_semver(Arguments arguments) {
    if (!fits(arguments)) return no_such_overload();
    return version_of(arguments).has_value();
}

Outcome part_of(Arguments arguments, std::uint64_t Version::* part) {
    const auto* version = arguments[0].opaque<VersionValue>();
    if (version == nullptr) return no_such_overload();
    return static_cast<std::int64_t>(version->get().*part);
}
Outcome major_part(Arguments arguments) { return part_of(arguments, &Version::major); }
Outcome minor_part(Arguments arguments) { return part_of(arguments, &Version::minor); }
Outcome patch_part(Arguments arguments) { return part_of(arguments, &Version::patch); }

int order(const auto& a, const auto& b) { return a < b ? -1 : (b < a ? 1 : 0); }

/// Numbers come before words.
int order_of_parts(const std::string& a, const std::string& b) {
    if (is_digits(a) != is_digits(b)) return is_digits(a) ? -1 : 1;
    if (is_digits(a) && a.size() != b.size()) return order(a.size(), b.size());
    return order(a, b);
}

Outcome is_less(Arguments arguments) {
    const std::optional<int> order = compare_library_values(arguments);
    if (!order) return no_such_overload();
    return *order < 0;
}
Outcome is_greater(Arguments arguments) {
    const std::optional<int> order = compare_library_values(arguments);
    if (!order) return no_such_overload();
    return *order > 0;
}
Outcome compare_to(Arguments arguments) {
    const std::optional<int> order = compare_library_values(arguments);
    if (!order) return no_such_overload();
    return std::int64_t{*order};
}

constexpr NamedFunction kFunctions[] = {
    {"semver", semver},
    {"isSemver", is_semver},
    {"major", major_part},
    {"minor", minor_part},
    {"patch", patch_part},
    {"isLessThan", is_less},
    {"isGreaterThan", is_greater},
    {"compareTo", compare_to},
};

}  // namespace

std::span<const NamedFunction> version_functions() { return kFunctions; }

std::optional<int> compare_versions(const Value& a, const Value& b) {
    const auto* left = a.opaque<VersionValue>();
    const auto* right = b.opaque<VersionValue>();
    if (left == nullptr || right == nullptr) return std::nullopt;
    const Version& x = left->get();
    const Version& y = right->get();
    if (const int major = order(x.major, y.major)) return major;
    if (const int minor = order(x.minor, y.minor)) return minor;
    if (const int patch = order(x.patch, y.patch)) return patch;
    // What has no pre-release is later than what has one.
    if (x.pre_release.empty() != y.pre_release.empty()) return x.pre_release.empty() ? 1 : -1;
    for (std::size_t i = 0; i < std::min(x.pre_release.size(), y.pre_release.size()); ++i)
        if (const int part = order_of_parts(x.pre_release[i], y.pre_release[i])) return part;
    return order(x.pre_release.size(), y.pre_release.size());
}

std::optional<int> compare_library_values(Arguments arguments) {
    if (arguments.size() != 2) return std::nullopt;
    if (const auto order = compare_quantities(arguments[0], arguments[1])) return order;
    return compare_versions(arguments[0], arguments[1]);
}

}  // namespace muster::cel
