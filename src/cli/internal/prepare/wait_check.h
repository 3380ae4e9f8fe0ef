#pragma once

#include <string>
#include <vector>

#include "manifest/check.h"

namespace muster::cli {

struct WaitOptions {
    /// The name of the only node; empty: a cluster, where others may act too.
    std::string node;
    /// --wait-for-others: what would be an error is a warning.
    bool for_others = false;
    /// Nothing starts here and now: another muster on this machine may have what `muster run` lacks.
    bool only_checks = false;
};

/// What pods of the objects would wait for without an end, since nothing here makes it: a
/// scheduling gate that is removed, another node or scheduler, a ConfigMap, a Secret or a key of
/// one, a job that is resumed, the name of another job's pod, a token for an API. Pure.
std::vector<manifest::Problem> check_waits(std::vector<manifest::CheckedObject>& objects,
                                           const WaitOptions& options);

}  // namespace muster::cli
