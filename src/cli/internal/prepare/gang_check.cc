#include "cli/internal/prepare/gang_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "jobs/gang.h"
#include "jobs/kind.h"
#include "kube/objects/pod_requests.h"
#include "manifest/fit.h"
#include "manifest/pod_specs.h"

namespace muster::cli {

namespace {

using Requests = std::map<std::string, kube::Quantity>;

/// The pods of one replica type.
struct Replicas {
    std::string type;
    std::int32_t count = 0;
    Requests of_each;
    std::string path;  ///< of the type in the manifest

    kube::Quantity each(const std::string& resource) const {
        const auto found = of_each.find(resource);
        return found == of_each.end() ? kube::Quantity() : found->second;
    }
};

std::vector<Replicas> replicas_of(manifest::CheckedObject& object) {
    std::vector<Replicas> all;
    for (const manifest::PodSpecRef& pod : manifest::pod_specs(object.document)) {
        const jobs::ReplicaSpec* spec = object.job->replica(pod.replica_type);
        if (spec == nullptr || spec->replicas.value_or(0) == 0) continue;
        const Result<kube::Pod> made = jobs::build_pod(*object.job, {pod.replica_type, 0});
        if (!made) continue;  // refused before, where its job was planned
        all.push_back({pod.replica_type, *spec->replicas, kube::container_requests(made->spec),
                       pod.path.substr(0, pod.path.find(".template"))});
    }
    return all;
}

/// What so many pods ask for.
struct Together {
    std::int32_t pods = 0;
    kube::Quantity wanted;

    void add(std::int32_t count, const kube::Quantity& each) {
        pods += count;
        for (std::int32_t i = 0; i < count; ++i) wanted = wanted + each;
    }
};

/// The pods of a gang that ask for the least of it: any of them may be enough to start.
Together least_of_gang(const jobs::Job& job, std::vector<Replicas> all,
                       const std::string& resource) {
    std::ranges::sort(all, {}, [&](const Replicas& one) { return one.each(resource); });
    Together sum;
    for (const Replicas& one : all) {
        const std::int32_t left = jobs::gang_size(job) - sum.pods;
        if (jobs::starts_at_first(job, one.type))
            sum.add(std::min(left, one.count), one.each(resource));
    }
    return sum;
}

/// The first pod of a type that starts when all of another one run; nothing if no type does.
Together with_its_followers(const jobs::Job& job, const std::vector<Replicas>& all,
                            const std::string& resource) {
    Together sum;
    const auto follower = std::ranges::find_if(
        all, [&](const Replicas& one) { return !jobs::starts_at_first(job, one.type); });
    if (follower == all.end()) return sum;
    const std::string needed = job.kind->starts_after(job, follower->type);
    const auto first = std::ranges::find(all, needed, &Replicas::type);
    if (first == all.end()) return sum;
    sum.add(first->count, first->each(resource));
    sum.add(1, follower->each(resource));
    return sum;
}

/// The problem with one resource, if there is one.
std::optional<std::string> never_fit(const jobs::Job& job, const std::vector<Replicas>& all,
                                     const std::string& resource, const kube::Quantity& have) {
    const auto text = [&](const Together& sum, std::string_view when, std::string_view advice) {
        return fmt::format(
            "{} of its pods {} and ask for {} of \"{}\" together, of which this machine has {}: "
            "the job would wait forever. Lower their requests or replicas{}, or run without them "
            "with "
            "--ignore-resources {}",
            sum.pods, when, sum.wanted.to_string(), resource, have.to_string(), advice, resource);
    };
    // One alone that asks for more is another problem.
    if (const Together gang = least_of_gang(job, all, resource);
        gang.pods > 1 && gang.wanted > have)
        return text(gang, "start together or not at all",
                    ", say with spec.runPolicy.schedulingPolicy.minAvailable how many are enough "
                    "to start");
    if (const Together chain = with_its_followers(job, all, resource);
        chain.pods > 1 && chain.wanted > have)
        return text(chain, "have to run at the same time", "");
    return std::nullopt;
}

}  // namespace

std::vector<manifest::Problem> check_gangs(std::vector<manifest::CheckedObject>& objects,
                                           const Offered& offered) {
    std::vector<manifest::Problem> problems;
    for (manifest::CheckedObject& object : objects) {
        if (!object.job) continue;
        const std::vector<Replicas> all = replicas_of(object);
        std::map<std::string, const Replicas*> greediest;
        for (const Replicas& one : all)
            for (const auto& [resource, wanted] : one.of_each)
                if (const Replicas*& most = greediest[resource];
                    most == nullptr || wanted > most->each(resource))
                    most = &one;
        for (const auto& [resource, one] : greediest) {
            if (manifest::is_fitted(resource)) continue;
            const std::optional<kube::Quantity> have = offered(resource);
            if (!have || one->each(resource) > *have) continue;  // told of its container
            if (auto why = never_fit(*object.job, all, resource, *have))
                problems.push_back(object.document.problem(manifest::Severity::kError, one->path,
                                                           *std::move(why)));
        }
    }
    return problems;
}

}  // namespace muster::cli
