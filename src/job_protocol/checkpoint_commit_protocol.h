#pragma once

#include <muster/checkpoint.pb.h>

#include "job_protocol/checkpoint_commit.h"
#include "rpc/method.h"

namespace muster::job_protocol {

/// Answered when the step's fate is known; the agent asks again, also a new master, as long as it is not.
inline constexpr rpc::Call<job::StoredShards, job::CheckpointFate> kStoredShards{
    "checkpoint-shards", rpc::Repeat::kFreely};
inline constexpr rpc::Call<job::CommitEnd, job::CommitEndSeen> kCommitEnd{"checkpoint-commit",
                                                                          rpc::Repeat::kFreely};

// To and from the wire. A state that this version does not know is read as a refusal.

job::StoredShards to_wire(const StoredShards& shards);
StoredShards from_wire(const job::StoredShards& shards);
job::CheckpointFate to_wire(const CheckpointFate& fate);
CheckpointFate from_wire(const job::CheckpointFate& fate);
job::CommitEnd to_wire(const CommitEnd& end);
CommitEnd from_wire(const job::CommitEnd& end);

}  // namespace muster::job_protocol
