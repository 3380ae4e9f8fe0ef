#pragma once

#include <map>
#include <string>
#include <vector>

#include "manifest/check.h"

namespace muster::cli {

/// The claims to volumes of a manifest, as one machine gives them directories.
struct ClaimPlan {
    /// Claims that pods refer to and the manifest does not have.
    std::vector<manifest::CheckedObject> missing;
    std::vector<manifest::Problem> problems;
    std::vector<std::string>
        notices;  ///< a line for each claim: where it is, and how much it asks for
};

/// `places`: --volume, by "CLAIM" or "NAMESPACE/CLAIM". Problems are claims that no directory can
/// stand for, and that would be waited for without an end. Pure.
ClaimPlan plan_claims(std::vector<manifest::CheckedObject>& objects,
                      const std::map<std::string, std::string>& places);

}  // namespace muster::cli
