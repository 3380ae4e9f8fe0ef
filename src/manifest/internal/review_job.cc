#include "manifest/internal/review_job.h"

#include <boost/json/object.hpp>
#include <boost/json/string.hpp>

namespace muster::manifest {

namespace {

/// Malformed parts are left as they are; the review reports them.
json::value in_a_namespace(const json::value& object) {
    json::value stored = object;
    json::object* fields = stored.if_object();
    json::value* metadata = fields == nullptr ? nullptr : fields->if_contains("metadata");
    if (metadata == nullptr || !metadata->is_object()) return stored;
    json::value& ns = metadata->get_object()["namespace"];
    if (ns.is_null() || (ns.is_string() && ns.get_string().empty())) ns = "default";
    return stored;
}

}  // namespace

jobs::Review review_job(const jobs::JobKind& kind, const json::value& object,
                        const jobs::Platform& platform) {
    const jobs::JobKind& written = jobs::kind_as_written(kind, object);
    json::value stored = in_a_namespace(object);
    jobs::Review review = jobs::review(written, stored, platform);
    const kube::ObjectMeta& meta = review.job.metadata;
    if (!review.problems.empty() || !meta.name.empty()) return review;
    // Only now, so that an error in a prefix is reported for the prefix.
    stored.at("metadata").get_object()["name"] = meta.generate_name + "xxxxx";
    review.job = jobs::review(written, stored, platform).job;
    return review;
}

}  // namespace muster::manifest
