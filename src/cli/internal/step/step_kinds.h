#pragma once

#include <span>
#include <string_view>

namespace muster::cli {

/// What the pods of a kind are besides its workers.
enum class Shape {
    kMaster,     ///< one of the workers is the master
    kServers,    ///< parameter servers, if any are asked for
    kScheduler,  ///< a scheduler, and parameter servers
    kLauncher,   ///< a launcher that starts the ranks in the workers
    kWorkersOnly,
};

/// One word that `muster step` takes, and the job that it stands for.
struct StepKind {
    std::string_view word;    ///< "pytorch"
    std::string_view prefix;  ///< of the job's name, as upstream: "pytorchjob"
    std::string_view type;    ///< the label `type` of its pods
    std::string_view api_version;
    std::string_view kind;
    std::string_view replicas_field;
    std::string_view container;
    Shape shape;
    std::string_view server_type = {};  ///< the replica type of its parameter servers
    int workers;                        ///< without --num_worker, as upstream
};

std::span<const StepKind> step_kinds();
/// Null: there is no such kind. "pytorchjob" is known as well as "pytorch".
const StepKind* step_kind(std::string_view word);

}  // namespace muster::cli
