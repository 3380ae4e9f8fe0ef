#pragma once

#include <utility>

#include "jobs/internal/schema_of.h"
#include "jobs/kind.h"

namespace muster::jobs {

/// Makes the kind decode and describe its `.spec` by the described struct `Spec`, which has a
/// member `run_policy` and keeps its replicas in `replicas`. Those two move to the Job; the rest of
/// the spec stays in Job::extra, where spec_of<Spec>() finds it.
template <class Spec>
void bind_spec(JobKind& kind, std::map<std::string, ReplicaSpec> Spec::* replicas) {
    kind.spec_schema = schema_of<Spec>();
    if (!kind.own_operator.empty())
        kind.spec_schema = schema_parts::with_controller(kind.spec_schema, kind.own_operator);
    kind.decode_spec = [replicas](const json::value& value, Job& job,
                                  std::vector<Cause>& problems) {
        Spec spec;
        kube::decode_into(value, spec, "spec", problems);
        job.run_policy = std::exchange(spec.run_policy, {});
        job.replicas = std::exchange(spec.*replicas, {});
        job.extra = std::move(spec);
    };
}

template <class Spec>
const Spec& spec_of(const Job& job) {
    const Spec* spec = std::any_cast<Spec>(&job.extra);
    CHECK(spec != nullptr, "the job is of another kind");
    return *spec;
}

template <class Spec>
Spec& spec_of(Job& job) {
    return const_cast<Spec&>(spec_of<Spec>(std::as_const(job)));
}

}  // namespace muster::jobs

extern template struct muster::kube::codec::StructCodec<muster::jobs::RunPolicy>;
extern template struct muster::kube::codec::StructCodec<muster::jobs::ReplicaSpec>;
