#include "job_protocol/world.h"

namespace muster::job_protocol {

World as_told_to(const World& world, int group_rank) {
    if (group_rank == 0) return world;
    return {.generation = world.generation,
            .members = {world.members.front(), world.members[static_cast<std::size_t>(group_rank)]},
            .restarts = world.restarts,
            .nodes = world.nodes,
            .ranks = world.ranks,
            .own_rank = group_rank};
}

}  // namespace muster::job_protocol
