#include "master_process/life.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <sstream>
#include <utility>

#include "master_process/decision_log.h"

namespace muster::master_process {
namespace {

/// Agents that miss the end wait for long; one that looks for its master finds it in this time.
constexpr Duration kFarewell = std::chrono::seconds(5);

}  // namespace

std::uint64_t first_epoch(WallTime now) {
    const auto time = std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch());
    return static_cast<std::uint64_t>(std::max<std::int64_t>(time.count(), 1));
}

master::MasterOptions master_options(const Arguments& arguments, std::uint64_t first,
                                     std::string token, Rng& rng) {
    master::MasterOptions options{.node_check = master::NodeCheckOptions{.secret = rng.uuid()},
                                  .services = {[](const master::ServiceContext& context) {
                                      return std::make_unique<DecisionLog>(context.job);
                                  }},
                                  .token = std::move(token),
                                  .name = rng.uuid(),
                                  .farewell = kFarewell};
    options.job.terms_of_nodes = true;
    options.job.begins_again = arguments.begin_again;
    options.job.first_epoch = arguments.successor ? 0 : first;
    return options;
}

FollowedJob followed_job(const Arguments& arguments) {
    FollowedJob followed{
        .type = resource_of(arguments.job_object).value(),  // parse_arguments() has checked it
        .namespace_ = arguments.namespace_,
        .name = arguments.job,
        .node_types = {}};
    std::istringstream types(arguments.node_types);
    for (std::string type; std::getline(types, type, ',');) followed.node_types.push_back(type);
    return followed;
}

PlanPlace plan_place(const Arguments& arguments) {
    // Plans are of the group of the jobs that they change.
    kube::ResourceType type = resource_of(arguments.job_object).value();
    type.plural = "scaleplans";
    type.kind = "ScalePlan";
    return {.type = std::move(type),
            .namespace_ = arguments.namespace_,
            .name = arguments.plan_object,
            .job = arguments.job};
}

}  // namespace muster::master_process
