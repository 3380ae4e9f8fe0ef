#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <cstddef>
#include <cstdint>

#include "base/check.h"
#include "jobs/kind.h"
#include "kube/objects/codec.h"
#include "kube/schema/schema.h"

// Any JSON is either refused with causes, or leads to pods and services that an API server accepts.

namespace {

using namespace muster;

void check_replica(const jobs::Job& job, const jobs::ReplicaId& replica) {
    const auto pod = jobs::build_pod(job, replica);
    CHECK(pod.has_value(), "a valid job has pods");
    CHECK(pod->metadata.name.size() <= 63, "whose names are short enough");
    static const kube::Schema::Ptr pod_schema = kube::core_schema("Pod");
    CHECK(kube::validate(*pod_schema, kube::encode(*pod)).empty(), "and are well-formed");

    const auto service = jobs::build_service(job, replica);
    CHECK(service.has_value(), "a valid job has services");
    static const kube::Schema::Ptr service_schema = kube::core_schema("Service");
    CHECK(kube::validate(*service_schema, kube::encode(*service)).empty(), "that are well-formed");
}

void check(const jobs::JobKind& kind, const json::value& object) {
    const jobs::Review review = jobs::review(kind, object);
    for (const Cause& cause : review.problems)
        CHECK(!cause.reason.empty() && !cause.message.empty(), "a problem says what it is");
    auto job = jobs::load(kind, object);
    CHECK(job.has_value() == review.problems.empty(), "load() and review() agree");
    if (!job) return;
    // As the server sets it.
    job->metadata.uid = "uid";
    if (job->metadata.name.empty()) job->metadata.name = job->metadata.generate_name + "xxxxx";

    jobs::Job again = *job;
    jobs::apply_defaults(again);
    CHECK(jobs::validate(again).empty(), "defaults make no valid job invalid");
    for (const auto& [type, spec] : job->replicas) {
        if (*spec.replicas == 0) continue;
        check_replica(*job, {type, 0});
        check_replica(*job, {type, *spec.replicas - 1});
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    boost::json::error_code failed;
    const json::value object =
        json::parse({reinterpret_cast<const char*>(data), size}, failed, {}, {.max_depth = 100});
    if (failed) return 0;
    for (const jobs::JobKind* kind : jobs::all_kinds()) check(*kind, object);
    return 0;
}
