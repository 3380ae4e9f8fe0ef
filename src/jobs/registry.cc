#include <set>

#include "jobs/kind.h"
#include "kube/values/json_access.h"

// One line for each kind, in the order of their names; for a resource with versions the stored one
// first. Its file defines `JobKind <name>()`.
// clang-format off: one a line
#define MUSTER_JOB_KINDS(KIND) \
    KIND(elasticjob)           \
    KIND(jaxjob)               \
    KIND(mpijob_v2beta1)       \
    KIND(mpijob_v1)            \
    KIND(mpijob_v1alpha2)      \
    KIND(mxjob)                \
    KIND(paddlejob)            \
    KIND(pytorchjob)           \
    KIND(tfjob)                \
    KIND(xgboostjob)
// clang-format on

namespace muster::jobs {

#define DECLARE(name) JobKind name();
MUSTER_JOB_KINDS(DECLARE)
#undef DECLARE

const std::vector<const JobKind*>& all_kinds() {
#define MAKE(name) name(),
    static const std::vector<JobKind> kinds{MUSTER_JOB_KINDS(MAKE)};
#undef MAKE
    static const std::vector<const JobKind*> pointers = [] {
        std::vector<const JobKind*> all;
        all.reserve(kinds.size());
        for (const JobKind& kind : kinds) all.push_back(&kind);
        return all;
    }();
    return pointers;
}

bool is_job_resource(std::string_view qualified) {
    static const std::set<std::string, std::less<>> all = [] {
        std::set<std::string, std::less<>> names;
        for (const JobKind* kind : all_kinds()) names.insert(kind->resource.qualified());
        return names;
    }();
    return all.contains(qualified);
}

const JobKind* find_kind(std::string_view api_version, std::string_view kind) {
    for (const JobKind* known : all_kinds())
        if (known->resource.kind == kind && known->resource.api_version() == api_version)
            return known;
    return nullptr;
}

const JobKind& kind_as_written(const JobKind& read_as, const json::value& object) {
    if (read_as.version_field.empty() || !object.is_object()) return read_as;
    const json::object* spec = kube::object_at(object.get_object(), "spec");
    const std::string_view mark =
        spec == nullptr ? std::string_view() : kube::string_at(*spec, read_as.version_field);
    for (const JobKind* known : all_kinds())
        if (known->resource.qualified() == read_as.resource.qualified() &&
            known->resource.version == mark)
            return *known;
    return read_as;
}

}  // namespace muster::jobs
