#include "master_process/decision_log.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/log.h"

namespace muster::master_process {
namespace {

constexpr std::size_t kNamed = 16;
constexpr Duration kFirstPause = std::chrono::seconds(5);
constexpr Duration kLongestPause = std::chrono::minutes(5);

}  // namespace

std::string world_text(const master::World& world) {
    std::string text =
        fmt::format("generation {} runs, {} workers on {} nodes: ", world.generation.number,
                    world.ranks, world.nodes);
    const std::size_t named = std::min(world.members.size(), kNamed);
    for (std::size_t i = 0; i < named; ++i)
        text += fmt::format("{}{} (slot {})", i == 0 ? "" : ", ", world.members[i].address,
                            world.members[i].slot);
    return named < world.members.size() ? text + ", ..." : text;
}

void DecisionLog::has_terms(const master::Terms& terms) {
    job_.say({.text = fmt::format("the job has {} to {} nodes, as its agents say", terms.min_nodes,
                                  terms.max_nodes)});
}

void DecisionLog::world_changed(const master::World* world, const std::string& why) {
    said_.clear();
    pause_ = {};
    say_next_ = {};
    if (world != nullptr)
        log::info(world_text(*world),
                  {{"epoch", world->generation.epoch}, {"attempt", world->restarts}, {"why", why}});
    else
        log::warning("no world runs", {{"why", why}});
}

bool DecisionLog::advance(Instant now, WallTime /*wall*/) {
    std::string waits = job_.waits_for();
    if (waits.empty() || waits == said_ || now < say_next_) return false;
    pause_ = std::clamp(2 * pause_, kFirstPause, kLongestPause);
    say_next_ = now + pause_;
    job_.say({.text = waits});
    said_ = std::move(waits);
    return false;
}

}  // namespace muster::master_process
