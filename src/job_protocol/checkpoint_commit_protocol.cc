#include "job_protocol/checkpoint_commit_protocol.h"

#include "job_protocol/internal/field_lists.h"

namespace muster::job_protocol {

job::StoredShards to_wire(const StoredShards& shards) { return to_wire_form(shards); }
StoredShards from_wire(const job::StoredShards& shards) {
    return from_wire_form<StoredShards>(shards);
}

job::CheckpointFate to_wire(const CheckpointFate& fate) { return to_wire_form(fate); }
CheckpointFate from_wire(const job::CheckpointFate& fate) {
    return from_wire_form<CheckpointFate>(fate);
}

job::CommitEnd to_wire(const CommitEnd& end) { return to_wire_form(end); }
CommitEnd from_wire(const job::CommitEnd& end) { return from_wire_form<CommitEnd>(end); }

}  // namespace muster::job_protocol
