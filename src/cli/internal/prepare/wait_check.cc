#include "cli/internal/prepare/wait_check.h"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <utility>

#include "cli/internal/prepare/object_references.h"
#include "jobs/kind.h"
#include "kube/values/json_access.h"
#include "manifest/pod_specs.h"

namespace muster::cli {

namespace {

class WaitCheck {
  public:
    WaitCheck(std::vector<manifest::CheckedObject>& objects, const WaitOptions& options)
        : objects_(objects), options_(options), known_(objects) {}

    std::vector<manifest::Problem> run() {
        for (manifest::CheckedObject& object : objects_) {
            check_pod_names(object);
            if (options_.node.empty()) continue;
            if (object.job) check_job(object);
            for (const manifest::PodSpecRef& pod : manifest::pod_specs(object.document)) {
                if (object.job && replicas_of(*object.job, pod.replica_type) == 0) continue;
                check_pod(object, pod);
            }
        }
        return std::move(problems_);
    }

  private:
    void add(const manifest::CheckedObject& object, const std::string& field, std::string wait) {
        if (!options_.for_others)
            wait += ". It would wait forever; --wait-for-others starts it nevertheless";
        problems_.push_back(object.document.problem(
            options_.for_others ? manifest::Severity::kWarning : manifest::Severity::kError, field,
            std::move(wait)));
    }

    static std::int32_t replicas_of(const jobs::Job& job, const std::string& type) {
        const jobs::ReplicaSpec* spec = job.replica(type);
        return spec == nullptr ? 0 : spec->replicas.value_or(0);
    }

    void check_job(const manifest::CheckedObject& object) {
        const jobs::RunPolicy& policy = object.job->run_policy;
        if (policy.suspend.value_or(false))
            add(object, "spec.runPolicy.suspend",
                "the job is suspended, and nothing here resumes it: leave this out, or pass --set "
                "spec.runPolicy.suspend=false");
        // The check of the job has warned of it.
        if (!jobs::is_ours(*object.job->kind, policy.managed_by) && !options_.for_others)
            add(object, "spec.runPolicy.managedBy",
                fmt::format("\"{}\" is to run this job, and it is not here: leave this out",
                            policy.managed_by));
    }

    void check_pod(const manifest::CheckedObject& object, const manifest::PodSpecRef& pod) {
        if (const json::array* gates = kube::array_at(*pod.spec, "schedulingGates");
            gates != nullptr && !gates->empty())
            add(object, pod.path + ".schedulingGates",
                "nothing here removes a pod's scheduling gates: leave them out");
        const std::string_view node = kube::string_at(*pod.spec, "nodeName");
        if (!node.empty() && node != options_.node)
            add(object, pod.path + ".nodeName",
                fmt::format("there is no node \"{}\", this machine is \"{}\": leave this out", node,
                            options_.node));
        check_scheduler(object, pod);
        for (const ObjectReference& reference : object_references(pod))
            if (auto missing = known_.missing(reference, object.namespace_))
                add(object, reference.field, *std::move(missing));
    }

    void check_scheduler(const manifest::CheckedObject& object, const manifest::PodSpecRef& pod) {
        const std::string_view scheduler = kube::string_at(*pod.spec, "schedulerName");
        if (scheduler.empty() || scheduler == "default-scheduler") return;
        // The check of the job has warned of it.
        if (object.job && options_.for_others) return;
        add(object, pod.path + ".schedulerName",
            fmt::format("there is no scheduler \"{}\" here, and pods of a job start together "
                        "without it: leave this out, or pass --set "
                        "{}.schedulerName=default-scheduler",
                        scheduler, pod.path));
    }

    /// Of two objects whose pods have one name, one waits until the other's is gone.
    void check_pod_names(const manifest::CheckedObject& object) {
        if (object.name.empty()) return;  // the server makes one
        std::optional<std::pair<std::string, std::string>> taken;
        const auto claim = [&](std::string name) {
            const std::string owner = fmt::format("{} {}", object.type.kind, object.name);
            const auto [other, fresh] =
                pods_.try_emplace({object.namespace_, std::move(name)}, owner);
            if (!fresh && !taken) taken = {other->first.second, other->second};
        };
        if (object.type == kube::types::kPods) claim(object.name);
        if (object.job)
            for (const jobs::ReplicaType& type : object.job->kind->replica_types)
                for (std::int32_t i = 0; i < replicas_of(*object.job, type.name); ++i)
                    claim(jobs::replica_name(*object.job, {type.name, i}));
        if (taken)
            add(object, "metadata.name",
                fmt::format("its pod would be called \"{}\" like one of {}, and be made only when "
                            "that is gone: rename one of them",
                            taken->first, taken->second));
    }

    std::vector<manifest::CheckedObject>& objects_;
    const WaitOptions& options_;
    const KnownObjects known_;
    std::map<std::pair<std::string, std::string>, std::string> pods_;  ///< namespace, name -> owner
    std::vector<manifest::Problem> problems_;
};

}  // namespace

std::vector<manifest::Problem> check_waits(std::vector<manifest::CheckedObject>& objects,
                                           const WaitOptions& options) {
    return WaitCheck(objects, options).run();
}

}  // namespace muster::cli
