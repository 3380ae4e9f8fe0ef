#include "cli/internal/prepare/wait_check.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <tuple>
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
            check_names(object);
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
        if (policy.suspend.value_or(false)) {
            const json::object& spec = kube::child(object.document.object.get_object(), "spec");
            const std::string field =
                kube::bool_at(spec, "suspend") ? "spec.suspend" : "spec.runPolicy.suspend";
            add(object, field,
                fmt::format("the job is suspended, and nothing here resumes it: leave this out, or "
                            "pass --set {}=false",
                            field));
        }
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
        check_tokens(object, pod);
        for (const ObjectReference& reference : object_references(pod))
            if (auto missing = known_.missing(reference, object.namespace_))
                add(object, reference.field, *std::move(missing));
    }

    void check_tokens(const manifest::CheckedObject& object, const manifest::PodSpecRef& pod) {
        const json::array* volumes = kube::array_at(*pod.spec, "volumes");
        for (std::size_t i = 0; volumes != nullptr && i < volumes->size(); ++i) {
            const json::object* volume = (*volumes)[i].if_object();
            const json::object* projected =
                volume == nullptr ? nullptr : kube::object_at(*volume, "projected");
            const json::array* sources =
                projected == nullptr ? nullptr : kube::array_at(*projected, "sources");
            for (std::size_t j = 0; sources != nullptr && j < sources->size(); ++j)
                if (const json::object* source = (*sources)[j].if_object();
                    source != nullptr && source->contains("serviceAccountToken"))
                    no_token(object, fmt::format("{}.volumes[{}].projected.sources[{}]."
                                                 "serviceAccountToken",
                                                 pod.path, i, j));
        }
    }
    void no_token(const manifest::CheckedObject& object, const std::string& field) {
        const std::string why =
            "service accounts have no tokens under 'muster run', as its pods reach no API";
        const std::string advice =
            "leave this out, or start the manifest with 'muster up' and "
            "'kubectl apply'";
        if (options_.only_checks)
            problems_.push_back(object.document.problem(
                manifest::Severity::kWarning, field, why + " and would wait forever: " + advice));
        else
            add(object, field, why + ": " + advice);
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

    /// Of two jobs that make an object of one name, one waits until the other's is gone; a job waits
    /// as long for one that the manifest has itself.
    void check_names(const manifest::CheckedObject& object) {
        if (object.name.empty()) return;  // the server makes one
        if (!object.job) return claim(object, object.type.kind, object.name);
        const jobs::Job& job = *object.job;
        for (const jobs::ReplicaType& type : job.kind->replica_types) {
            for (std::int32_t i = 0; i < replicas_of(job, type.name); ++i) {
                const std::string name = jobs::replica_name(job, {type.name, i});
                claim(object, "Pod", name);
                if (jobs::has_services(job, type.name)) claim(object, "Service", name);
            }
        }
        if (job.kind->owned_objects)
            for (const jobs::OwnedObject& owned : job.kind->owned_objects(job, {}))
                claim(object, owned.type.kind, owned.name);
    }

    void claim(const manifest::CheckedObject& object, std::string_view kind, std::string name) {
        const auto [other, fresh] =
            names_.try_emplace({std::string(kind), object.namespace_, std::move(name)}, &object);
        // One line for two jobs is enough; two equal objects of a manifest are another matter.
        if (fresh || other->second == &object || (!object.job && !other->second->job)) return;
        // Files that are only checked need not be meant for one run.
        if (options_.only_checks && object.document.source != other->second->document.source)
            return;
        const bool told = !told_.emplace(&object, other->second).second;
        if (told) return;
        const manifest::CheckedObject& job = object.job ? object : *other->second;
        const manifest::CheckedObject& taker = object.job ? *other->second : object;
        const std::string one = taker.job ? fmt::format("one of {} {}", taker.type.kind, taker.name)
                                          : std::string("the manifest's own");
        add(job, "metadata.name",
            fmt::format(
                "its {} would be called \"{}\" like {}, and be made only when that is gone: "
                "rename one of them",
                kind == "Pod" ? "pod" : kind, std::get<2>(other->first), one));
    }

    std::vector<manifest::CheckedObject>& objects_;
    const WaitOptions& options_;
    const KnownObjects known_;
    /// Kind, namespace and name -> the object that it is of.
    std::map<std::tuple<std::string, std::string, std::string>, const manifest::CheckedObject*>
        names_;
    std::set<std::pair<const manifest::CheckedObject*, const manifest::CheckedObject*>> told_;
    std::vector<manifest::Problem> problems_;
};

}  // namespace

std::vector<manifest::Problem> check_waits(std::vector<manifest::CheckedObject>& objects,
                                           const WaitOptions& options) {
    return WaitCheck(objects, options).run();
}

}  // namespace muster::cli
