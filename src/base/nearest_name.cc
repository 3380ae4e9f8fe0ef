#include "base/nearest_name.h"

#include <algorithm>
#include <limits>

#include "base/lower_case.h"

namespace muster {
namespace {

/// Names that differ only in case and separators (env_from, EnvFrom, env-from) are the same slip.
std::string fold(std::string_view name) {
    std::string folded;
    folded.reserve(name.size());
    for (char c : name) {
        if (c == '_' || c == '-') continue;
        folded += lower_case(c);
    }
    return folded;
}

/// Insertions, deletions, substitutions and swaps of neighbours that turn `a` into `b`.
std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before_last(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            row[j] = std::min(
                {last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0u : 1u)});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = std::min(row[j], before_last[j - 2] + 1);
        }
        before_last.swap(last);
        last.swap(row);
    }
    return last[b.size()];
}

}  // namespace

std::string nearest_name(std::string_view unknown, const std::vector<std::string>& candidates) {
    // No known name is that long, and computing the distance costs the product of both lengths.
    constexpr std::size_t kLongest = 100;
    if (unknown.size() > kLongest) return {};
    const std::string wanted = fold(unknown);
    const std::string* best = nullptr;
    std::size_t best_distance = std::numeric_limits<std::size_t>::max();
    for (const std::string& candidate : candidates) {
        const std::string folded = fold(candidate);
        const std::size_t length = std::max(wanted.size(), folded.size());
        const std::size_t allowed = std::min<std::size_t>(3, length < 3 ? 0 : (length + 1) / 4 + 1);
        const std::size_t gap = length - std::min(wanted.size(), folded.size());
        if (gap > allowed) continue;
        const std::size_t distance = edit_distance(wanted, folded);
        if (distance > allowed || distance >= length) continue;
        if (distance < best_distance || (distance == best_distance && candidate < *best)) {
            best = &candidate;
            best_distance = distance;
        }
    }
    return best == nullptr ? std::string() : *best;
}

}  // namespace muster
