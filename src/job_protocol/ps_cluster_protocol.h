#pragma once

#include <muster/kv_store.pb.h>
#include <muster/ps_cluster.pb.h>

#include "job_protocol/ps_cluster.h"
#include "job_protocol/world.h"
#include "rpc/method.h"

namespace muster::job_protocol {

// How programs without an agent reach their master. One keeps a stream open for as long as it runs,
// which says that its pod is there, and gets the cluster that holds now and each later one.

inline constexpr rpc::Stream<job::PsAttendance, job::PsCluster> kAttend{"attend"};
inline constexpr rpc::Call<job::VersionRequest, job::VersionAnswer> kVersion{"ps-version",
                                                                             rpc::Repeat::kFreely};
/// Keys are the job's own, without a generation. Barriers and points are of meeting_of().
inline constexpr rpc::Call<job::KvRequest, job::KvAnswer> kPsKeys{"ps-keys", rpc::Repeat::kFreely};

/// The generation of those who attend, which runs as long as their master.
inline Generation meeting_of(std::uint64_t epoch) { return {.epoch = epoch, .number = 1}; }

// To and from the wire. What can't be is refused by the master, which has the limits.

job::PsAttendance to_wire(const PsAttendance& attendance);
PsAttendance from_wire(const job::PsAttendance& attendance);
job::PsCluster to_wire(const PsCluster& cluster);
PsCluster from_wire(const job::PsCluster& cluster);
job::VersionRequest to_wire(const VersionRequest& request);
VersionRequest from_wire(const job::VersionRequest& request);
job::VersionAnswer to_wire(const VersionAnswer& answer);
VersionAnswer from_wire(const job::VersionAnswer& answer);

}  // namespace muster::job_protocol
