#include <fmt/format.h>

#include <array>
#include <set>

#include "jobs/internal/text.h"
#include "jobs/kind.h"
#include "kube/field_path.h"

namespace muster::jobs {
namespace {

/// Fields of the run policy that this version accepts and stores but does not act on. A row goes
/// when the operator learns the field.
struct NotYet {
    std::string_view field;
    bool (*is_set)(const RunPolicy&);
    std::string_view meanwhile;
};
constexpr std::array<NotYet, 1> kNotYet{{
    {"spec.runPolicy.schedulingPolicy",
     [](const RunPolicy& p) { return p.scheduling_policy.has_value(); },
     "on a cluster each pod is scheduled on its own; on one machine minAvailable says how many "
     "start together"},
}};

/// A job of somebody else's is kept and shown, and that is all.
void check_controller(const Job& job, std::vector<Cause>& found) {
    const std::string& controller = job.run_policy.managed_by;
    if (is_ours(*job.kind, controller)) return;
    found.push_back(doubtful("spec.runPolicy.managedBy",
                             fmt::format("{} is in charge of this job: nothing here acts on it; "
                                         "leave the field out to have it run here",
                                         controller)));
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
        found_.push_back(doubtful(job_.replica_path(type_.name),
                                  fmt::format("read as \"{}\"; write it so, other tools look for "
                                              "this spelling",
                                              type_.name)));
    }

    void check_overwritten_restart_policy() {
        const std::string& written = spec_.template_.spec.restart_policy;
        const std::string& wanted = spec_.restart_policy.empty()
                                        ? job_.kind->default_policy(type_.name)
                                        : spec_.restart_policy;
        const std::string pods =
            wanted == "ExitCode" || job_.restarts_all(type_) ? "Never" : wanted;
        if (written.empty() || written == pods) return;
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
    }

    /// Such pods are Pending without a word where nobody of that name looks for them.
    void check_scheduler() {
        const std::string& scheduler = spec_.template_.spec.scheduler_name;
        if (scheduler.empty() || scheduler == "default-scheduler") return;
        found_.push_back(doubtful(
            path_ + ".spec.schedulerName",
            fmt::format("the pods wait for a scheduler named {}, and no PodGroup is made for "
                        "it; on one machine there is none: leave the field out, all pods "
                        "start together here",
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
        fmt::format(
            "\"{}\" is not known and changes nothing; \"{}\" restarts all replicas when one "
            "fails, \"{}\" that one alone",
            restart->second, annotations::kRestartGroup, annotations::kRestartReplica)));
}

/// Variables of the user that the operator's own hide. Asks the kind, so the job must be valid.
void check_hidden_env(const Job& written, std::vector<Cause>& found) {
    if (!written.kind->environment || !validate(written).empty()) return;
    Job job = written;
    apply_defaults(job);
    for (const ReplicaType& type : job.kind->replica_types) {
        const ReplicaSpec* spec = job.replica(type.name);
        if (spec == nullptr || *spec->replicas == 0) continue;
        const auto variables = job.kind->environment(job, {type.name, 0});
        if (!variables) continue;
        std::map<std::string, std::string> ours;
        for (const Variable& variable : *variables) ours[variable.env.name] = variable.env.value;
        const std::string path = job.replica_path(type.name) + ".template.spec.containers";
        for (std::size_t c = 0; c < spec->template_.spec.containers.size(); ++c) {
            const kube::Container& container = spec->template_.spec.containers[c];
            if (job.kind->env_target == EnvTarget::kDefaultContainer &&
                &container != default_container(*job.kind, spec->template_.spec))
                continue;
            for (std::size_t i = 0; i < container.env.size(); ++i) {
                const kube::EnvVar& theirs = container.env[i];
                const auto hidden = ours.find(theirs.name);
                if (hidden == ours.end()) continue;
                if (!theirs.value_from && hidden->second == theirs.value) continue;
                found.push_back(ineffective(
                    kube::item_path(kube::item_path(path, c) + ".env", i),
                    fmt::format("{} is set by the operator, and its value counts (\"{}\" in the "
                                "first {})",
                                theirs.name, hidden->second, type.name)));
            }
        }
    }
}

}  // namespace

std::vector<Cause> warnings(const Job& job) {
    std::vector<Cause> found;
    for (const NotYet& row : kNotYet)
        if (row.is_set(job.run_policy))
            found.push_back(
                ineffective(std::string(row.field),
                            fmt::format("has no effect in this version: {}", row.meanwhile)));
    check_controller(job, found);
    check_restart_annotation(job, found);
    for (const ReplicaType& type : job.kind->replica_types)
        if (job.replica(type.name) != nullptr) TemplateWarnings(job, type, found).check();
    if (job.kind->own_warnings) {
        std::vector<Cause> own = job.kind->own_warnings(job);
        found.insert(found.end(), own.begin(), own.end());
    }
    check_hidden_env(job, found);
    return found;
}

}  // namespace muster::jobs
