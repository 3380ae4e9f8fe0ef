#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "base/time/clock.h"
#include "launch/plan.h"
#include "net/tls/tls.h"

namespace muster::run {

/// By what the nodes of one job know each other.
struct Credentials {
    std::string token;                                   ///< the job's
    std::unique_ptr<net::TlsServerContext> server = {};  ///< null: without TLS
    std::unique_ptr<net::TlsClientContext> client = {};

    /// From the files that the plan names. kInvalid: one is empty or can't be used; the message
    /// names the flag. The clock outlives what is made.
    static Result<Credentials> read(const launch::LaunchPlan& plan, const Clock& clock);
};

}  // namespace muster::run
