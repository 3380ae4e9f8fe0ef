#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstddef>
#include <memory>
#include <mutex>

#include "kube/schema/schema.h"
#include "kube/values/fingerprint.h"

namespace muster::kube {

/// Lets the schemas that from_openapi() reads share their equal parts: job definitions, for
/// example, all contain a whole pod template. It keeps no schema alive. Any thread.
class SchemaPool {
  public:
    /// The part that was read from an equal JSON value, or null.
    Schema::Ptr find(const Fingerprint& json) const;
    void add(const Fingerprint& json, const Schema::Ptr& part);

    std::size_t size() const;

  private:
    mutable std::mutex mutex_;  ///< of all that follows; held for one look-up, or one sweep
    boost::unordered_flat_map<Fingerprint, std::weak_ptr<const Schema>, Fingerprint::Hash> parts_;
    std::size_t sweep_at_ = 4096;  ///< at this size, unused schemas are dropped
};

/// Schema::from_openapi(), reusing the parts that were read from equal JSON before.
std::pair<Schema::Ptr, std::vector<Cause>> from_openapi(const json::value& openapi,
                                                        const std::string& path, SchemaPool& pool);

/// Of the value with everything in it; the order of an object's keys counts.
Fingerprint fingerprint_of(const json::value& value);

}  // namespace muster::kube
