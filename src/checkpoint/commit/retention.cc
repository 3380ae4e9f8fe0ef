#include "checkpoint/commit/retention.h"

#include <algorithm>

namespace muster::checkpoint {
namespace {

bool stays(const Manifest& manifest, std::uint64_t newer, const Retention& rule,
           std::int64_t now_unix_ms) {
    if (!rule.last && !rule.every_steps && !rule.younger_than) return true;
    if (rule.last && newer < *rule.last) return true;
    if (rule.every_steps && *rule.every_steps > 0 && manifest.facts.step % *rule.every_steps == 0)
        return true;
    // A checkpoint of the future, by a clock that was wrong, is young.
    return rule.younger_than &&
           std::chrono::milliseconds(now_unix_ms - manifest.made_unix_ms) < *rule.younger_than;
}

}  // namespace

std::vector<std::string> expired(const Catalog& catalog, const Retention& rule,
                                 std::int64_t now_unix_ms, const std::set<std::string>& in_use) {
    std::vector<std::string> directories;
    for (std::uint64_t newer = 1; newer < catalog.checkpoints.size(); ++newer) {
        const FoundCheckpoint& found = catalog.checkpoints[newer];
        if (!in_use.contains(found.directory) && !stays(found.manifest, newer, rule, now_unix_ms))
            directories.push_back(found.directory);
    }
    std::ranges::reverse(directories);
    return directories;
}

}  // namespace muster::checkpoint
