#include "jobs/internal/elasticjob/critical_nodes.h"

#include <fmt/format.h>

#include "base/fields.h"
#include "base/parse_number.h"
#include "jobs/internal/text.h"
#include "jobs/internal/variables.h"

namespace muster::jobs {

std::optional<Cause> critical_nodes_problem(const Job& job, const std::string& type,
                                            const std::string& written) {
    if (written.empty() || written == "all" || written == "none") return std::nullopt;
    const std::string field = job.replica_path(type) + ".criticalNodes";
    const std::int32_t replicas = wanted(job, type);
    std::string_view rest = written;
    while (!rest.empty()) {
        const std::string_view entry = take_field(rest, ',');
        std::string_view restarts = entry;
        const std::string_view rank = take_field(restarts, ':');
        const auto number = parse_number<std::int32_t>(rank);
        const auto count = parse_number<std::int32_t>(restarts);
        if (!number || !count || *number < 0 || *count < 0)
            return invalid(field, fmt::format("\"{}\" is not a rank with its restarts: write "
                                              "\"all\", \"none\", or as in \"0:3,2:1\"",
                                              entry.substr(0, 64)));
        if (*number >= replicas)
            return invalid(field, fmt::format("there is no {} of rank {}: ranks are 0 to {}", type,
                                              *number, replicas - 1));
    }
    return std::nullopt;
}

}  // namespace muster::jobs
