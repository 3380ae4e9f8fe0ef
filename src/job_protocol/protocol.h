#pragma once

#include <muster/job.pb.h>
#include <muster/split_brain.pb.h>

#include "base/result.h"
#include "job_protocol/directives.h"
#include "job_protocol/job_record.h"
#include "job_protocol/master_claim.h"
#include "rpc/method.h"

namespace muster::job_protocol {

// What agents and their master say to each other. An agent opens one stream and gets the order that
// holds now, and each that holds later; it tells what is so with it on each change. Both are told
// again over each connection, so a message that was lost with one leaves nothing behind.

inline constexpr rpc::Stream<job::Join, job::Directive> kJoin{"join"};
inline constexpr rpc::Note<job::Report> kReport{"report"};
/// A report that it leaves, which it can wait for.
inline constexpr rpc::Call<job::Report, job::Left> kLeave{"leave", rpc::Repeat::kFreely};
/// Of two masters of one job, to each other.
inline constexpr rpc::Call<job::MasterClaim, job::MasterClaim> kMasterClaim{"rival",
                                                                            rpc::Repeat::kFreely};

// To and from the wire. What a newer version adds is passed over; kBadRequest: what every version
// has is missing, or makes no sense.

job::Join to_wire(const Hello& hello);
Result<Hello> from_wire(const job::Join& join);
job::Report to_wire(const Report& report);
Result<Report> from_wire(const job::Report& report);
job::Directive to_wire(const Directive& order);
Result<Directive> from_wire(const job::Directive& order);
job::JobRecord to_wire(const JobRecord& record);
Result<JobRecord> from_wire(const job::JobRecord& record);
job::MasterClaim to_wire(const MasterClaim& claim);
MasterClaim from_wire(const job::MasterClaim& claim);

}  // namespace muster::job_protocol
