#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time/clock.h"
#include "master_process/arguments.h"
#include "net/tls/tls.h"

namespace muster::master_process {

/// By what agents and their master know each other.
struct Credentials {
    std::string token;                              ///< the job's; not empty
    std::unique_ptr<net::TlsServerContext> server;  ///< null: without TLS

    /// From the files that the arguments name, or MUSTER_TOKEN in an environment of "NAME=VALUE".
    /// Without one it is made of the name of the job. Errors name the flag. The clock outlives it.
    static Result<Credentials> read(const Arguments& arguments,
                                    const std::vector<std::string>& environment,
                                    const Clock& clock);
};

}  // namespace muster::master_process
