#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "base/time/clock.h"
#include "launch/flags.h"
#include "launch/plan.h"
#include "net/tls/tls.h"

namespace muster::run {

/// By what the nodes of one job know each other.
struct Credentials {
    std::string token;                                   ///< the job's
    std::unique_ptr<net::TlsServerContext> server = {};  ///< null: without TLS
    std::unique_ptr<net::TlsClientContext> client = {};

    /// From the files that the plan names, or the variable MUSTER_TOKEN; the token may be the first
    /// line of standard input. Warns if a job of several nodes has no secret, or one of this
    /// machine alone is open to its other users. kInvalid: one is empty
    /// or can't be used; the message names the flag. The clock outlives what is made.
    static Result<Credentials> read(const launch::LaunchPlan& plan,
                                    const launch::Variables& variables, const Clock& clock);
};

/// For what this process starts: no worker needs the token.
launch::Variables without_token(launch::Variables variables);

}  // namespace muster::run
