#include "sim/internal/generated_job.h"

#include <boost/json/object.hpp>

#include "jobs/kind.h"

namespace muster::sim {

Duration draw(const DurationRange& range, Rng& rng) {
    using std::chrono::milliseconds;
    const auto span = std::chrono::floor<milliseconds>(range.most - range.least).count();
    if (span <= 0) return range.least;
    return range.least + milliseconds(rng.below(static_cast<std::uint64_t>(span) + 1));
}

int draw(const std::pair<int, int>& range, Rng& rng) {
    return range.first +
           static_cast<int>(rng.below(static_cast<std::uint64_t>(range.second - range.first) + 1));
}

namespace {

const std::string& pick(const std::vector<std::string>& words, Rng& rng) {
    return words[rng.below(words.size())];
}

std::int64_t whole_seconds(Duration duration) {
    return std::chrono::floor<std::chrono::seconds>(duration).count();
}

json::object replica(int replicas, const std::string& policy) {
    return {{"replicas", replicas},
            {"restartPolicy", policy},
            {"template",
             {{"spec",
               {{"containers",
                 json::array{json::object{{"name", "pytorch"}, {"image", "training:1"}}}}}}}}};
}

}  // namespace

json::object generate_job(const GeneratedJobs& jobs, const std::string& name, Rng& rng) {
    json::object policy{{"cleanPodPolicy", pick(jobs.clean_pod_policies, rng)}};
    if (rng.chance(jobs.with_backoff_limit)) policy["backoffLimit"] = draw(jobs.backoff_limit, rng);
    if (rng.chance(jobs.with_deadline))
        policy["activeDeadlineSeconds"] = whole_seconds(draw(jobs.deadline, rng));
    if (rng.chance(jobs.with_ttl))
        policy["ttlSecondsAfterFinished"] = whole_seconds(draw(jobs.ttl, rng));
    if (rng.chance(jobs.suspended)) policy["suspend"] = true;
    json::object metadata{{"name", name}};
    if (rng.chance(jobs.group_restart))
        metadata["annotations"] = {{jobs::annotations::kRestart, jobs::annotations::kRestartGroup}};

    json::object replicas;
    const int masters = draw(jobs.masters, rng);
    const int workers = draw(jobs.workers, rng);
    if (masters > 0) replicas["Master"] = replica(masters, pick(jobs.restart_policies, rng));
    if (workers > 0 || masters == 0)
        replicas["Worker"] = replica(std::max(workers, 1), pick(jobs.restart_policies, rng));
    return {
        {"apiVersion", "kubeflow.org/v1"},
        {"kind", "PyTorchJob"},
        {"metadata", std::move(metadata)},
        {"spec", {{"runPolicy", std::move(policy)}, {"pytorchReplicaSpecs", std::move(replicas)}}}};
}

}  // namespace muster::sim
