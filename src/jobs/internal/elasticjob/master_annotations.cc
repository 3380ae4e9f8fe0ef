#include "jobs/internal/elasticjob/master_annotations.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/parse_number.h"
#include "jobs/internal/text.h"

namespace muster::jobs {
namespace {

/// No text of a user's is longer than that in a variable.
constexpr std::size_t kLongestSetting = 1024;

/// What is wrong with a value; "" if nothing is.
std::string setting_problem(const MasterAnnotation& annotation, const std::string& value) {
    switch (annotation.type) {
        case MasterAnnotation::Type::kNumber:
            if (const auto number = parse_number<std::int64_t>(value);
                !number || *number < annotation.least)
                return fmt::format("takes a number from {} on", annotation.least);
            return {};
        case MasterAnnotation::Type::kChoice:
            if (std::ranges::find(annotation.choices, value) == annotation.choices.end())
                return fmt::format("takes {}", one_of(annotation.choices));
            return {};
        case MasterAnnotation::Type::kText:
            if (value.size() > kLongestSetting)
                return fmt::format("takes at most {} characters", kLongestSetting);
            return {};
    }
    return {};
}

const std::string* written(const Job& job, std::string_view name) {
    const auto found = job.metadata.annotations.find(std::string(name));
    return found == job.metadata.annotations.end() ? nullptr : &found->second;
}

}  // namespace

std::span<const MasterAnnotation> master_annotations() {
    using enum MasterAnnotation::Type;
    using enum MasterAnnotation::Effect;
    static constexpr std::string_view kHang =
        "the flags of the agent say when workers hang (muster-run --help)";
    static constexpr std::string_view kCheck =
        "the agents' flag --network-check checks nodes before training";
    static constexpr std::string_view kDashboard =
        "'muster describe' and 'muster get' show the job";
    static const std::vector<MasterAnnotation> all = {
        {.name = "service_type",
         .type = kChoice,
         .choices = {"grpc", "http"},
         .standard = "grpc",
         .effect = kVariable},
        {.name = "training_elastic_mode",
         .type = kChoice,
         .choices = {"base", "ucp"},
         .standard = "base",
         .effect = kVariable},
        {.name = "dynamic_failover_extension", .type = kText, .effect = kVariable},
        {.name = kPendingTimeout, .type = kNumber, .standard = "900", .effect = kPending},
        {.name = kPendingStrategy,
         .type = kChoice,
         .choices = {"-1", "0", "1", "2"},
         .standard = "1",
         .effect = kPending},
        {.name = "pre_check_ops", .type = kText, .instead = kCheck},
        {.name = "pre_check_bypass", .type = kText, .instead = kCheck},
        {.name = "hang_detection",
         .type = kChoice,
         .choices = {"0", "1", "2"},
         .standard = "1",
         .instead = kHang},
        {.name = "hang_downtime", .type = kNumber, .standard = "5", .instead = kHang},
        {.name = "max_hang_downtime", .type = kNumber, .standard = "120", .instead = kHang},
        {.name = "xpu_type",
         .type = kChoice,
         .choices = {"nvidia", "ascend", "mthreads"},
         .standard = "nvidia",
         .instead = "devices are found on the nodes"},
        {.name = "task_process_timeout",
         .type = kNumber,
         .standard = "1800",
         .instead = "no data shards are handed out"},
        {.name = "enable_dashboard",
         .type = kChoice,
         .choices = {"true", "false"},
         .standard = "false",
         .instead = kDashboard},
        {.name = "dashboard_port",
         .type = kNumber,
         .least = 1,
         .standard = "8080",
         .instead = kDashboard},
        {.name = "group-affinity", .type = kText, .instead = "the scheduler places the pods"},
        {.name = "node_num",
         .type = kNumber,
         .least = 1,
         .instead = "the number of nodes is replicaSpecs.worker.replicas"},
    };
    return all;
}

std::string master_setting(const Job& job, std::string_view name) {
    const auto known = master_annotations();
    const auto annotation = std::ranges::find(known, name, &MasterAnnotation::name);
    if (annotation == known.end()) return {};
    const std::string* value = written(job, name);
    if (value == nullptr || !setting_problem(*annotation, *value).empty())
        return std::string(annotation->standard);
    return *value;
}

void check_master_annotations(const Job& job, std::vector<Cause>& found) {
    for (const MasterAnnotation& annotation : master_annotations()) {
        const std::string* value = written(job, annotation.name);
        if (value == nullptr) continue;
        const std::string field = fmt::format("metadata.annotations[{}]", annotation.name);
        if (annotation.effect == MasterAnnotation::Effect::kNone) {
            found.push_back(
                ineffective(field, fmt::format("has no effect: {}", annotation.instead)));
            continue;
        }
        if (const std::string problem = setting_problem(annotation, *value); !problem.empty())
            found.push_back(ineffective(
                field,
                fmt::format("\"{}\" is not known: it {}; {} counts", value->substr(0, 64), problem,
                            annotation.standard.empty()
                                ? std::string("none")
                                : fmt::format("\"{}\"", annotation.standard))));
    }
}

}  // namespace muster::jobs
