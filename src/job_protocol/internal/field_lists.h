#pragma once

#include <muster/checkpoint.pb.h>
#include <muster/job.pb.h>
#include <muster/kv_store.pb.h>
#include <muster/node_check.pb.h>
#include <muster/ps_cluster.pb.h>
#include <muster/split_brain.pb.h>

#include <array>
#include <string>
#include <utility>

#include "job_protocol/checkpoint_commit.h"
#include "job_protocol/directives.h"
#include "job_protocol/failure.h"
#include "job_protocol/internal/conversion.h"
#include "job_protocol/job_record.h"
#include "job_protocol/kv_requests.h"
#include "job_protocol/master_claim.h"
#include "job_protocol/node_check.h"
#include "job_protocol/ps_cluster.h"
#include "job_protocol/terms.h"
#include "job_protocol/world.h"

namespace muster::job_protocol {

// The fields of each message, in the order of its .proto file; field_lists_test.cc compares them.
// _AS: the struct, or its member, has another name than in the message.

#define MESSAGE(name, ...) MESSAGE_AS(name, name, __VA_ARGS__)
#define MESSAGE_AS(of_struct, of_message, ...) \
    template <>                                \
    inline constexpr auto kMessage<of_struct> = message<job::of_message>(__VA_ARGS__)
#define FIELD(name) FIELD_AS(name, name)
#define FIELD_AS(of_struct, of_message)                                                           \
    Field {                                                                                       \
        #of_message, [](auto& value) -> auto& { return value.of_struct; },                        \
            [](const auto& wire) -> decltype(auto) { return wire.of_message(); },                 \
            [](auto& wire, auto&& to) { wire.set_##of_message(std::forward<decltype(to)>(to)); }, \
            [](auto& wire) { return wire.mutable_##of_message(); },                               \
            [](const auto& wire) { return wire.has_##of_message(); }                              \
    }
#define ONE_OF(of_struct, ...)                                                        \
    OneOf {                                                                           \
        [](auto& value) -> auto& { return value.of_struct; }, std::tuple(__VA_ARGS__) \
    }

template <class Wire, class... Fields>
constexpr Message<Wire, Fields...> message(Fields... fields) {
    return {{fields...}};
}

template <>
inline constexpr auto kNames<FailureKind> = std::to_array<Name<FailureKind>>({
    {FailureKind::kWorkerExited, "worker-exited"},
    {FailureKind::kNotStarted, "not-started"},
    {FailureKind::kOutOfMemory, "out-of-memory"},
    {FailureKind::kDisconnected, "connection-broke"},
    {FailureKind::kTimedOut, "node-silent"},
    {FailureKind::kNodeEvicted, "node-evicted"},
    {FailureKind::kCheckFailed, "check-failed"},
});
template <>
inline constexpr auto kNames<Charge> = std::to_array<Name<Charge>>({
    {Charge::kWorker, "worker"},
    {Charge::kNothing, "nothing"},
    {Charge::kMemory, "memory"},
    {Charge::kNode, "node"},
});
template <>
inline constexpr auto kNames<Verdict::Kind> = std::to_array<Name<Verdict::Kind>>({
    {Verdict::Kind::kFailed, "failed"},
    {Verdict::Kind::kSucceeded, "succeeded"},
    {Verdict::Kind::kExcluded, "excluded"},
});
template <>
inline constexpr auto kNames<NodeCheckKind> = std::to_array<Name<NodeCheckKind>>({
    {NodeCheckKind::kNodes, "nodes"},
    {NodeCheckKind::kLinks, "links"},
    {NodeCheckKind::kNone, "none"},
});
template <>
inline constexpr auto kNames<VersionKind> = std::to_array<Name<VersionKind>>({
    {VersionKind::kGlobal, "global"},
    {VersionKind::kLocal, "local"},
    {VersionKind::kRestored, "restored"},
});

template <>
inline constexpr auto kNames<CheckpointFate::State> = std::to_array<Name<CheckpointFate::State>>({
    {CheckpointFate::State::kRefused, "refused"},
    {CheckpointFate::State::kWrite, "write"},
    {CheckpointFate::State::kCommitted, "committed"},
    {CheckpointFate::State::kSuperseded, "superseded"},
});

// checkpoint.proto

MESSAGE(StoredShards, FIELD(root), FIELD(manifest));
MESSAGE(CheckpointFate, FIELD(state), FIELD(manifest), FIELD(why));
MESSAGE(CommitEnd, FIELD(root), FIELD(epoch), FIELD(generation), FIELD(step), FIELD(error));

// node_check.proto

MESSAGE(CheckPeer, FIELD(incarnation), FIELD(address), FIELD(port));
MESSAGE(Check, FIELD(epoch), FIELD(round), FIELD(compute), FIELD(dials), FIELD(thorough),
        FIELD(secret), FIELD_AS(limit, limit_ms));
MESSAGE(LinkFigures, FIELD(peer), FIELD(trouble), FIELD_AS(round_trip, round_trip_ns),
        FIELD(bytes_out), FIELD(bytes_in));
MESSAGE(CheckResult, FIELD(epoch), FIELD(round), FIELD(flops), FIELD(memory_bytes), FIELD(links),
        FIELD(trouble));

// job.proto

MESSAGE(Generation, FIELD(epoch), FIELD(number));
MESSAGE(Member, FIELD(slot), FIELD(incarnation), FIELD(address), FIELD(store_port),
        FIELD(local_size), FIELD(first_rank), FIELD(group_rank), FIELD(addresses));
MESSAGE(World, FIELD(generation), FIELD(restarts), FIELD(nodes), FIELD(ranks), FIELD(own_rank),
        FIELD(members));
MESSAGE(FailureReport, FIELD(kind), FIELD(generation), FIELD(restarts), FIELD(slot), FIELD(node),
        FIELD(rank), FIELD(exit_code), FIELD(signal), FIELD(error), FIELD_AS(when, when_ns));
MESSAGE(Report, FIELD(holds), FIELD(gave_up), FIELD(store_ready), FIELD(done), FIELD(evidence),
        FIELD(steps), FIELD(leaving), FIELD(checked));
MESSAGE(BudgetTerm, FIELD(charge), FIELD(incidents), FIELD_AS(window, window_s));
MESSAGE_AS(PolicyOptions, Policy, FIELD(final_codes), FIELD(bad_node_codes), FIELD(bad_node_errors),
           FIELD(give_up_after));
MESSAGE(Terms, FIELD(min_nodes), FIELD(max_nodes), FIELD(node_unit), FIELD(grow_at_failure),
        FIELD_AS(last_call, last_call_ms), FIELD_AS(silence, silence_ms),
        FIELD_AS(broken_grace, broken_grace_ms), FIELD_AS(healthy_grace, healthy_grace_ms),
        FIELD(budgets), FIELD(policy), FIELD(check), FIELD(exclude_slow));
MESSAGE_AS(Hello, Join, FIELD(incarnation), FIELD(slot), FIELD(local_size), FIELD(address),
           FIELD(store_port), FIELD(rack), FIELD(name), FIELD(epoch_seen), FIELD(report),
           FIELD(check_port), FIELD(can_host_master), FIELD(addresses), FIELD(terms), FIELD(pod),
           FIELD(host));
MESSAGE(Wait, FIELD_AS(standby, spare), FIELD(text));
MESSAGE(Run, FIELD(world), FIELD(most_restarts));
MESSAGE(Stop, FIELD(generation));
MESSAGE(Verdict, FIELD(kind), FIELD(text), FIELD(cause));
MESSAGE(Directive, FIELD(epoch),
        ONE_OF(what, FIELD(wait), FIELD(run), FIELD(stop), FIELD(end), FIELD(check)), FIELD(why),
        FIELD_AS(grace, grace_ms), FIELD(record));
MESSAGE(Incident, FIELD(charge), FIELD_AS(when, when_ns), FIELD(generation), FIELD(restarts),
        FIELD(error));
using Section = std::pair<std::string, std::string>;
MESSAGE_AS(Section, RecordSection, FIELD_AS(first, name), FIELD_AS(second, data));
MESSAGE(JobRecord, FIELD(epoch), FIELD(incidents), FIELD(excluded), FIELD(end), FIELD(sections),
        FIELD(terms));

// kv_store.proto

MESSAGE(KvSpace, FIELD(epoch), FIELD(generation));
MESSAGE(SetKey, FIELD(key), FIELD(value));
MESSAGE(GetKey, FIELD(key));
MESSAGE(AddToKey, FIELD(key), FIELD(amount));
MESSAGE(CompareSetKey, FIELD(key), FIELD(expected), FIELD(desired));
MESSAGE(DeleteKey, FIELD(key));
MESSAGE(AwaitKeys, FIELD(keys));
MESSAGE(EnterBarrier, FIELD(name));
MESSAGE(JoinSyncPoint, FIELD(name));
MESSAGE(AwaitSyncPoint, FIELD(name));
MESSAGE(KvRequest, FIELD(space),
        ONE_OF(what, FIELD(set), FIELD(get), FIELD(add), FIELD(compare_set), FIELD(delete_),
               FIELD(await_keys), FIELD(enter_barrier), FIELD(join_sync), FIELD(await_sync)));
MESSAGE(KvAnswer, FIELD(value), FIELD(number), FIELD(yes));

// ps_cluster.proto

MESSAGE(TaskVersions, FIELD(type), FIELD(rank), FIELD(local), FIELD(restored));
MESSAGE(PsAttendance, FIELD(type), FIELD(id), FIELD(rank), FIELD(address), FIELD(servers),
        FIELD(place), FIELD(places), FIELD(versions), FIELD(started), FIELD(kept),
        FIELD(container));
MESSAGE(PsCluster, FIELD(epoch), FIELD(version), FIELD(servers), FIELD(complete), FIELD(kept));
MESSAGE(VersionRequest, FIELD(kind), FIELD(type), FIELD(rank), FIELD(set));
MESSAGE(VersionAnswer, FIELD(version));

// split_brain.proto

MESSAGE(MasterClaim, FIELD(epoch), FIELD(nodes), FIELD(settled));

#undef ONE_OF
#undef FIELD_AS
#undef FIELD
#undef MESSAGE_AS
#undef MESSAGE

}  // namespace muster::job_protocol
