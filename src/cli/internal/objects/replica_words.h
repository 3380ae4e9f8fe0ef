#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "kube/values/json.h"

namespace muster::cli {

/// What --replicas says: "4", or "Worker=4" for one type of a job.
struct ReplicaWord {
    std::string type;  ///< empty: of the object as a whole
    std::int32_t count = 0;

    friend bool operator==(const ReplicaWord&, const ReplicaWord&) = default;
};

/// All of them are of types, or there is one that is not. Pure.
Result<std::vector<ReplicaWord>> parse_replica_words(const std::vector<std::string>& words);

/// The merge patch that sets these numbers of a job, whose replicas are in `field` of its spec; types are
/// compared without case. kInvalid says which types it has. Pure.
Result<json::value> replica_patch(const json::object& job, const std::string& field,
                                  const std::vector<ReplicaWord>& words);

}  // namespace muster::cli
