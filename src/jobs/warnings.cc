#include <fmt/format.h>

#include <array>
#include <set>

#include "jobs/gang_scheduler.h"
#include "jobs/internal/text.h"
#include "jobs/kind.h"
#include "kube/values/field_path.h"

namespace muster::jobs {
namespace {

/// A field of the scheduling policy, and which scheduler reads it.
struct PolicyField {
    std::string_view name;
    bool (*is_set)(const SchedulingPolicy&);
    bool on_one_machine = false;
    bool by_volcano = false;
    bool by_plugins = false;
    bool by_yunikorn = false;

    bool read_by(GangScheduler scheduler) const {
        switch (scheduler) {
            case GangScheduler::kNone:
                return false;
            case GangScheduler::kVolcano:
                return by_volcano;
            case GangScheduler::kSchedulerPlugins:
                return by_plugins;
            case GangScheduler::kYunikorn:
                return by_yunikorn;
        }
        return false;
    }
};
constexpr std::array<PolicyField, 5> kPolicyFields{{
    {.name = "minAvailable",
     .is_set = [](const SchedulingPolicy& p) { return p.min_available.has_value(); },
     .on_one_machine = true,
     .by_volcano = true,
     .by_plugins = true,
     .by_yunikorn = true},
    {.name = "queue",
     .is_set = [](const SchedulingPolicy& p) { return !p.queue.empty(); },
     .by_volcano = true,
     .by_yunikorn = true},
    {.name = "minResources",
     .is_set = [](const SchedulingPolicy& p) { return !p.min_resources.empty(); },
     .by_volcano = true,
     .by_plugins = true},
    {.name = "priorityClass",
     .is_set = [](const SchedulingPolicy& p) { return !p.priority_class.empty(); },
     .by_volcano = true},
    {.name = "scheduleTimeoutSeconds",
     .is_set = [](const SchedulingPolicy& p) { return p.schedule_timeout_seconds.has_value(); },
     .by_plugins = true,
     .by_yunikorn = true},
}};

/// Kueue takes a job's priority from the scheduling policy.
bool is_read_by_kueue(const Job& job, std::string_view field) {
    return job.platform.cluster && field == "priorityClass" &&
           job.metadata.labels.contains("kueue.x-k8s.io/queue-name");
}

void check_scheduling_policy(const Job& job, std::vector<Cause>& found) {
    if (!job.run_policy.scheduling_policy) return;
    const GangScheduler scheduler = gang_scheduler_of(job).scheduler;
    std::string why = fmt::format("{} does not read it", title(scheduler));
    if (scheduler == GangScheduler::kNone)
        why = job.platform.cluster
                  ? "no gang scheduler is used: start the operator with --gang-scheduler-name, or "
                    "name volcano, yunikorn or scheduler-plugins-scheduler in the pod templates' "
                    "schedulerName"
                  : "on one machine only minAvailable counts, as how many pods start together";
    for (const PolicyField& field : kPolicyFields) {
        if (!field.is_set(*job.run_policy.scheduling_policy) || field.read_by(scheduler)) continue;
        if (!job.platform.cluster && field.on_one_machine) continue;
        if (is_read_by_kueue(job, field.name)) continue;
        found.push_back(ineffective(fmt::format("spec.runPolicy.schedulingPolicy.{}", field.name),
                                    fmt::format("has no effect: {}", why)));
    }
}

/// A job of another controller is stored and shown, but nothing else is done.
void check_controller(const Job& job, std::vector<Cause>& found) {
    const std::string& controller = job.run_policy.managed_by;
    if (is_ours(*job.kind, controller)) return;
    found.push_back(doubtful("spec.runPolicy.managedBy",
                             fmt::format("{} manages this job, and nothing here acts on it: "
                                         "leave the field out to have it run here",
                                         controller)));
}

void check_init_containers_env(const std::map<std::string, std::string>& written,
                               const std::string& path, std::vector<Cause>& found) {
    const auto env = written.find(std::string(annotations::kInitContainersEnv));
    if (env == written.end() || env->second == annotations::kYes || env->second == annotations::kNo)
        return;
    found.push_back(ineffective(
        fmt::format("{}metadata.annotations[{}]", path, annotations::kInitContainersEnv),
        fmt::format("\"{}\" is not known and changes nothing; \"{}\" gives init containers the "
                    "variables of the replica, \"{}\" does not",
                    env->second, annotations::kYes, annotations::kNo)));
}

class TemplateWarnings {
  public:
    TemplateWarnings(const Job& job, const ReplicaType& type, std::vector<Cause>& found)
        : job_(job),
          type_(type),
          spec_(*job.replica(type.name)),
          path_(job.replica_path(type.name) + ".template"),
          found_(found) {}

    void check() {
        check_spelling();
        check_overwritten_restart_policy();
        check_metadata();
        check_scheduler();
        const std::vector<kube::Container>& containers = spec_.template_.spec.containers;
        for (std::size_t i = 0; i < containers.size(); ++i)
            check_env(containers[i].env, kube::item_path(path_ + ".spec.containers", i) + ".env");
    }

  private:
    void check_spelling() {
        if (!job_.spelled.contains(type_.name)) return;
        found_.push_back(doubtful(
            job_.replica_path(type_.name),
            fmt::format("read as \"{}\"; write it this way, as other tools look for this spelling",
                        type_.name)));
    }

    void check_overwritten_restart_policy() {
        const std::string& written = spec_.template_.spec.restart_policy;
        const std::string& wanted = spec_.restart_policy.empty()
                                        ? job_.kind->default_policy(type_.name)
                                        : spec_.restart_policy;
        const bool only_pods = job_.kind->restarts_as_pods;
        const std::string pods =
            only_pods || wanted == "ExitCode" || job_.restarts_all(type_) ? "Never" : wanted;
        if (written.empty() || written == pods) return;
        if (only_pods)
            return found_.push_back(ineffective(
                path_ + ".spec.restartPolicy",
                fmt::format(
                    "\"{}\" is overwritten with \"Never\": a replica that failed restarts as a "
                    "new pod",
                    written)));
        found_.push_back(ineffective(
            path_ + ".spec.restartPolicy",
            fmt::format("\"{}\" is overwritten with \"{}\"; set {}.restartPolicy instead", written,
                        pods, job_.replica_path(type_.name))));
    }

    void check_metadata() {
        const kube::ObjectMeta& metadata = spec_.template_.metadata;
        if (!metadata.name.empty())
            found_.push_back(ineffective(path_ + ".metadata.name",
                                         "pods are named after the job and the replica"));
        if (!metadata.namespace_.empty() && metadata.namespace_ != job_.metadata.namespace_)
            found_.push_back(ineffective(path_ + ".metadata.namespace",
                                         "pods are created in the job's namespace"));
        check_init_containers_env(metadata.annotations, path_ + ".", found_);
    }

    /// On one machine such pods silently stay Pending. On a cluster they are scheduled separately
    /// from the job's gang.
    void check_scheduler() {
        const std::string& scheduler = spec_.template_.spec.scheduler_name;
        const std::string field = path_ + ".spec.schedulerName";
        if (const GangChoice gang = gang_scheduler_of(job_);
            gang.scheduler != GangScheduler::kNone) {
            if (!scheduler.empty() && scheduler != gang.name)
                found_.push_back(
                    doubtful(field, fmt::format("these pods wait for {} and not for {}, which "
                                                "places the job's gang; leave the field out",
                                                scheduler, gang.name)));
            return;
        }
        if (job_.platform.cluster || scheduler.empty() || scheduler == "default-scheduler") return;
        found_.push_back(
            doubtful(field, fmt::format("the pods wait for a scheduler named {}; on one machine "
                                        "there is none: leave the field out, all pods start "
                                        "together here",
                                        scheduler)));
    }

    void check_env(const std::vector<kube::EnvVar>& env, const std::string& path) {
        std::set<std::string> seen;
        for (std::size_t i = 0; i < env.size(); ++i)
            if (!seen.insert(env[i].name).second)
                found_.push_back(doubtful(
                    kube::item_path(path, i) + ".name",
                    fmt::format("{} is set more than once; the last value counts", env[i].name)));
    }

    const Job& job_;
    const ReplicaType& type_;
    const ReplicaSpec& spec_;
    std::string path_;
    std::vector<Cause>& found_;
};

void check_restart_annotation(const Job& job, std::vector<Cause>& found) {
    const auto restart = job.metadata.annotations.find(std::string(annotations::kRestart));
    if (restart == job.metadata.annotations.end() ||
        restart->second == annotations::kRestartGroup ||
        restart->second == annotations::kRestartReplica)
        return;
    found.push_back(ineffective(
        fmt::format("metadata.annotations[{}]", annotations::kRestart),
        fmt::format("\"{}\" is not known and changes nothing; \"{}\" restarts all replicas when "
                    "one fails, \"{}\" only that one",
                    restart->second, annotations::kRestartGroup, annotations::kRestartReplica)));
}

/// Variables of the user that the operator's own hide. Asks the kind, so the job must be valid.
class HiddenEnv {
  public:
    HiddenEnv(const Job& job, std::vector<Cause>& found) : job_(job), found_(found) {}

    void check(const ReplicaType& type, const ReplicaSpec& spec) {
        const auto variables = job_.kind->environment(job_, {type.name, 0});
        if (!variables) return;
        std::map<std::string, std::string> ours;
        for (const Variable& variable : *variables) ours[variable.env.name] = variable.env.value;
        const kube::PodSpec& pod = spec.template_.spec;
        const std::string path = job_.replica_path(type.name) + ".template.spec";
        for (std::size_t c = 0; c < pod.containers.size(); ++c)
            if (job_.kind->env_target == EnvTarget::kAllContainers ||
                &pod.containers[c] == default_container(*job_.kind, pod))
                check(pod.containers[c], kube::item_path(path + ".containers", c), type, ours);
        if (!job_.init_containers_get_environment(spec)) return;
        for (std::size_t c = 0; c < pod.init_containers.size(); ++c)
            check(pod.init_containers[c], kube::item_path(path + ".initContainers", c), type, ours);
    }

  private:
    void check(const kube::Container& container, const std::string& path, const ReplicaType& type,
               const std::map<std::string, std::string>& ours) {
        for (std::size_t i = 0; i < container.env.size(); ++i) {
            const kube::EnvVar& theirs = container.env[i];
            const auto hidden = ours.find(theirs.name);
            if (hidden == ours.end()) continue;
            if (!theirs.value_from && hidden->second == theirs.value) continue;
            found_.push_back(
                ineffective(kube::item_path(path + ".env", i),
                            fmt::format("{} is set by the operator, and its value counts (\"{}\" "
                                        "in the first {})",
                                        theirs.name, hidden->second, type.name)));
        }
    }

    const Job& job_;
    std::vector<Cause>& found_;
};

void check_hidden_env(const Job& written, std::vector<Cause>& found) {
    if (!written.kind->environment || !validate(written).empty()) return;
    Job job = written;
    apply_defaults(job);
    for (const ReplicaType& type : job.kind->written_types()) {
        const ReplicaSpec* spec = job.replica(type.name);
        if (spec != nullptr && *spec->replicas > 0) HiddenEnv(job, found).check(type, *spec);
    }
}

}  // namespace

std::vector<Cause> warnings(const Job& job) {
    std::vector<Cause> found;
    check_scheduling_policy(job, found);
    check_controller(job, found);
    check_restart_annotation(job, found);
    check_init_containers_env(job.metadata.annotations, "", found);
    for (const ReplicaType& type : job.kind->written_types())
        if (job.replica(type.name) != nullptr) TemplateWarnings(job, type, found).check();
    if (job.kind->own_warnings) {
        std::vector<Cause> own = job.kind->own_warnings(job);
        found.insert(found.end(), own.begin(), own.end());
    }
    check_hidden_env(job, found);
    return found;
}

}  // namespace muster::jobs
