#include "cli/internal/pods/pod_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/fields.h"

namespace muster::cli {

Result<PodWords> parse_pod_words(const std::string& text, const ResourceCatalog& catalog) {
    std::vector<std::string> parts;
    for (std::string_view rest = text;;) {
        const bool more = rest.find('/') != rest.npos;
        parts.emplace_back(take_field(rest, '/'));
        if (!more) break;
    }
    if (parts.size() > 3 || std::ranges::any_of(parts, &std::string::empty))
        return Error(Code::kInvalid,
                     fmt::format("\"{}\" is no pod and no job: write POD, JOB, JOB/REPLICA, "
                                 "KIND/NAME or KIND/JOB/REPLICA",
                                 text));
    if (parts.size() == 1) return PodWords{.kind = nullptr, .name = parts[0], .replica = {}};
    const auto kinds = catalog.find(parts[0]);
    if (kinds && kinds->size() == 1)
        return PodWords{.kind = kinds->front(),
                        .name = parts[1],
                        .replica = parts.size() == 3 ? parts[2] : std::string()};
    if (parts.size() == 3)
        return kinds ? Error(Code::kInvalid, fmt::format("\"{}\" means several kinds", parts[0]))
                     : kinds.error();
    return PodWords{.kind = nullptr, .name = parts[0], .replica = parts[1]};
}

}  // namespace muster::cli
