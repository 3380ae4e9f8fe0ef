#pragma once

#include <cstdint>
#include <string>

namespace muster::job_protocol {

// How the shards of a checkpoint, each durable at its own node, become one that is committed.

/// Shards of one step that are on the disk. Told again to each new master, until the step's fate is known.
struct StoredShards {
    std::string root = {};  ///< where, as the user named it; a step at two roots is two checkpoints
    std::string manifest = {};  ///< of these shards alone (checkpoint/commit/manifest.h)

    friend bool operator==(const StoredShards&, const StoredShards&) = default;
};

/// What becomes of a step. Answered when it is known.
struct CheckpointFate {
    enum class State : std::uint8_t {
        kWrite,  ///< all shards are there, and the caller is to commit them and to tell how it ended
        kCommitted,   ///< it is a checkpoint
        kSuperseded,  ///< a newer one was complete before
        kRefused,     ///< it can't become one
    };
    State state = State::kRefused;
    std::string manifest = {};  ///< of all shards; only with kWrite
    std::string why = {};       ///< for people; empty with kWrite and kCommitted

    friend bool operator==(const CheckpointFate&, const CheckpointFate&) = default;
};

/// How the commit ended that was asked for with CheckpointFate::State::kWrite.
struct CommitEnd {
    std::string root = {};
    std::uint64_t epoch = 0;  ///< of the generation that saved it, as `generation`
    std::uint64_t generation = 0;
    std::uint64_t step = 0;
    std::string error = {};  ///< empty: it is committed

    friend bool operator==(const CommitEnd&, const CommitEnd&) = default;
};

}  // namespace muster::job_protocol
