#include "sim/scenario.h"

#include <fmt/format.h>

#include "base/parse_number.h"
#include "jobs/kind.h"
#include "sim/internal/field_reader.h"
#include "sim/invariants.h"

namespace muster::sim {

namespace {

using Problems = std::vector<Cause>;

void read_recurring(FieldReader& parent, std::string_view key, Recurring& target,
                    Problems& problems, DurationRange* by = nullptr) {
    parent.read_with(key, [&](const json::value& value, const std::string& path) {
        FieldReader fields(value, path, problems);
        fields.read("every", target.every);
        fields.read("lasts", target.lasts);
        if (by != nullptr) fields.read_shift("by", *by);
        if (target.every.least <= Duration::zero() && target.every.most > Duration::zero())
            fields.problem("every", "must be longer than nothing");
    });
}

void read_transport(const json::value& value, const std::string& path, TransportFaults& faults,
                    Problems& problems) {
    FieldReader fields(value, path, problems);
    fields.read_probability("unavailable", faults.unavailable);
    fields.read_probability("timeoutBefore", faults.timeout_before);
    fields.read_probability("timeoutAfter", faults.timeout_after);
    fields.read_probability("conflict", faults.conflict);
    fields.read_probability("tooMany", faults.too_many);
    fields.read_probability("staleList", faults.stale_list);
    fields.read_probability("goneList", faults.gone_list);
    fields.read_probability("goneWatch", faults.gone_watch);
    fields.read_probability("brokenWatch", faults.broken_watch);
    fields.read_probability("repeatedEvent", faults.repeated_event);
    fields.read_probability("slowRequest", faults.slow_request);
    fields.read_probability("slowEvent", faults.slow_event);
    fields.read("delay", faults.delay);
}

void read_exits(const json::value& value, const std::string& path, PodBehaviour& pods,
                Problems& problems) {
    const json::object* exits = value.if_object();
    if (exits == nullptr) {
        problems.push_back({"FieldValueTypeInvalid", "must be a map of exit code to weight", path});
        return;
    }
    for (const auto& [code, weight] : *exits) {
        ExitChance chance;
        const std::string_view text = code;
        const auto exit_code = parse_number<int>(text);
        const double number = weight.is_double()  ? weight.get_double()
                              : weight.is_int64() ? static_cast<double>(weight.get_int64())
                                                  : -1;
        if (!exit_code || *exit_code < 0 || *exit_code > 255 || !(number >= 0 && number <= 1e6)) {
            problems.push_back({"FieldValueInvalid",
                                "must be an exit code from 0 to 255 and its weight",
                                fmt::format("{}.{}", path, text)});
            continue;
        }
        chance.exit_code = *exit_code;
        chance.weight = number;
        pods.exits.push_back(chance);
    }
}

void read_pods(const json::value& value, const std::string& path, PodBehaviour& pods,
               Problems& problems) {
    FieldReader fields(value, path, problems);
    fields.read("startDelay", pods.start_delay);
    fields.read("runTime", pods.run_time);
    fields.read("stopTime", pods.stop_time);
    fields.read_probability("neverStarts", pods.never_starts);
    fields.read_probability("runsForever", pods.runs_forever);
    fields.read_with("exits", [&](const json::value& exits, const std::string& where) {
        read_exits(exits, where, pods, problems);
    });
}

std::vector<std::string> kind_names() {
    std::vector<std::string> names;
    for (const jobs::JobKind* kind : jobs::all_kinds())
        if (names.empty() || names.back() != kind->resource.kind)  // versions stand together
            names.push_back(kind->resource.kind);
    return names;
}

void read_jobs(const json::value& value, const std::string& path, Scenario& scenario,
               Problems& problems) {
    const json::array* list = value.if_array();
    if (list == nullptr) {
        problems.push_back({"FieldValueTypeInvalid", "must be a list", path});
        return;
    }
    for (std::size_t i = 0; i < list->size(); ++i) {
        FieldReader fields((*list)[i], fmt::format("{}[{}]", path, i), problems);
        bool manifest = false;
        fields.read_with("manifest", [&](const json::value& object, const std::string& where) {
            manifest = true;
            if (object.is_object())
                scenario.manifests.push_back(object.get_object());
            else
                problems.push_back({"FieldValueTypeInvalid", "must be an object", where});
        });
        if (manifest) continue;
        GeneratedJobs jobs;
        fields.read("count", jobs.count, 1, 1'000'000);
        fields.read("spacing", jobs.spacing);
        fields.read_words("kinds", jobs.kinds, kind_names());
        fields.read("masters", jobs.masters);
        fields.read("workers", jobs.workers);
        fields.read_words("restartPolicies", jobs.restart_policies,
                          {"Always", "OnFailure", "Never", "ExitCode"});
        fields.read_words("cleanPodPolicies", jobs.clean_pod_policies, {"None", "Running", "All"});
        fields.read("backoffLimit", jobs.backoff_limit);
        fields.read_probability("withBackoffLimit", jobs.with_backoff_limit);
        fields.read("activeDeadline", jobs.deadline);
        fields.read_probability("withDeadline", jobs.with_deadline);
        fields.read("ttl", jobs.ttl);
        fields.read_probability("withTtl", jobs.with_ttl);
        fields.read_probability("suspended", jobs.suspended);
        fields.read_probability("groupRestart", jobs.group_restart);
        fields.read_probability("replicaRestart", jobs.replica_restart);
        fields.read_probability("elastic", jobs.elastic);
        fields.read("minWorkers", jobs.min_workers);
        fields.read("maxRestarts", jobs.max_restarts);
        fields.read_probability("nodeNum", jobs.node_num);
        if (jobs.masters.second > 1) fields.problem("masters", "a job has at most one master");
        scenario.jobs.push_back(std::move(jobs));
    }
}

void read_node_faults(const json::value& value, const std::string& path, NodeFaults& faults,
                      Problems& problems) {
    FieldReader fields(value, path, problems);
    read_recurring(fields, "death", faults.death, problems);
    read_recurring(fields, "silence", faults.silence, problems);
    read_recurring(fields, "late", faults.late, problems, &faults.late_by);
    read_recurring(fields, "eviction", faults.eviction, problems);
    read_recurring(fields, "crash", faults.crash, problems);
}

void read_operator_faults(const json::value& value, const std::string& path, OperatorFaults& faults,
                          Problems& problems) {
    FieldReader fields(value, path, problems);
    read_recurring(fields, "crash", faults.crash, problems);
    fields.read_probability("crashBeforeWrite", faults.crash_before_write);
    fields.read_probability("crashAfterWrite", faults.crash_after_write);
    fields.read("restartDelay", faults.restart_delay);
}

void read_training(const json::value& value, const std::string& path, Training& training,
                   Problems& problems) {
    FieldReader fields(value, path, problems);
    fields.read("work", training.work);
    fields.read("workerStart", training.worker_start);
    fields.read("workerStop", training.worker_stop);
}

void read_training_faults(const json::value& value, const std::string& path, TrainingFaults& faults,
                          Problems& problems) {
    FieldReader fields(value, path, problems);
    read_recurring(fields, "workerDeath", faults.worker_death, problems);
    fields.read_probability("programError", faults.program_error);
    read_recurring(fields, "linkCut", faults.link_cut, problems);
    read_recurring(fields, "lateCut", faults.late_cut, problems, &faults.late_cut_by);
    read_recurring(fields, "halfCut", faults.half_cut, problems);
    read_recurring(fields, "partition", faults.partition, problems);
    read_recurring(fields, "slowLink", faults.slow_link, problems, &faults.slow_link_by);
    read_recurring(fields, "lostRecords", faults.lost_records, problems);
    read_recurring(fields, "masterDeath", faults.master_death, problems);
}

void read_user(const json::value& value, const std::string& path, UserActions& user,
               Problems& problems) {
    FieldReader fields(value, path, problems);
    read_recurring(fields, "scale", user.scale, problems);
    read_recurring(fields, "scalePlan", user.scale_plan, problems);
    read_recurring(fields, "suspend", user.suspend, problems);
    read_recurring(fields, "deletePod", user.delete_pod, problems);
    read_recurring(fields, "deleteService", user.delete_service, problems);
    read_recurring(fields, "deleteJob", user.delete_job, problems);
    read_recurring(fields, "annotate", user.annotate, problems);
}

void read_agents_alone(const json::value& value, const std::string& path, AgentsAlone& agents,
                       Problems& problems) {
    FieldReader fields(value, path, problems);
    fields.read("nodes", agents.nodes);
    fields.read("faults", agents.faults, 0, 1'000'000);
    fields.read("time", agents.time);
    if (agents.nodes.first < 1) fields.problem("nodes", "must be 1 at least");
}

/// The fields that a file of faults may have.
void read_faults(FieldReader& fields, Scenario& scenario, Problems& problems) {
    fields.read("description", scenario.description);
    fields.read("operators", scenario.operators, 1, 3);
    fields.read("election", scenario.election);
    fields.read("faultsUntil", scenario.faults_until);
    fields.read("reportEveryPhase", scenario.report_every_phase);
    fields.read_with("pods", [&](const json::value& value, const std::string& path) {
        scenario.pods = {};
        read_pods(value, path, scenario.pods, problems);
    });
    fields.read_with("api", [&](const json::value& value, const std::string& path) {
        read_transport(value, path, scenario.operator_api, problems);
    });
    fields.read_with("nodeApi", [&](const json::value& value, const std::string& path) {
        read_transport(value, path, scenario.node_api, problems);
    });
    read_recurring(fields, "apiAway", scenario.api_away, problems);
    fields.read_with("faultPoints", [&](const json::value& value, const std::string& path) {
        FieldReader points(value, path, problems);
        points.read_probability("sites", scenario.fault_sites);
        points.read_probability("fires", scenario.fault_fires);
    });
    fields.read_with("nodeFaults", [&](const json::value& value, const std::string& path) {
        read_node_faults(value, path, scenario.node_faults, problems);
    });
    fields.read_with("operatorFaults", [&](const json::value& value, const std::string& path) {
        read_operator_faults(value, path, scenario.operator_faults, problems);
    });
    fields.read_with("training", [&](const json::value& value, const std::string& path) {
        scenario.training = {};
        read_training(value, path, scenario.training, problems);
    });
    fields.read_with("trainingFaults", [&](const json::value& value, const std::string& path) {
        read_training_faults(value, path, scenario.training_faults, problems);
    });
    read_recurring(fields, "clockJumps", scenario.clock_jump, problems, &scenario.clock_jump_by);
    fields.read_with("user", [&](const json::value& value, const std::string& path) {
        read_user(value, path, scenario.user, problems);
    });
    std::vector<std::string> names;
    for (const std::string_view name : invariant_names()) names.emplace_back(name);
    fields.read_words("except", scenario.except, names);
}

Error invalid(Problems problems) {
    std::string message = "the scenario is invalid:";
    for (const Cause& cause : problems)
        message += fmt::format(" {}: {};", cause.field, cause.message);
    message.pop_back();
    return Error(Code::kInvalid, std::move(message)).with_causes(std::move(problems));
}

}  // namespace

Result<Scenario> read_scenario(const json::value& value) {
    Scenario scenario;
    Problems problems;
    {
        FieldReader fields(value, "", problems);
        fields.read("nodes", scenario.nodes, 1, 100'000);
        fields.read("duration", scenario.duration);
        fields.read_with("jobs", [&](const json::value& jobs, const std::string& path) {
            read_jobs(jobs, path, scenario, problems);
        });
        fields.read_with("agentsAlone", [&](const json::value& value, const std::string& path) {
            read_agents_alone(value, path, scenario.agents_alone.emplace(), problems);
        });
        read_faults(fields, scenario, problems);
        if (scenario.faults_until > scenario.duration)
            fields.problem("faultsUntil", "must not be after the duration");
    }
    if (!problems.empty()) return invalid(std::move(problems));
    return scenario;
}

Result<void> add_faults(Scenario& scenario, const json::value& value) {
    Problems problems;
    Scenario with = scenario;
    // A file of a whole scenario will do: its jobs and times are not used.
    json::value faults = value;
    if (json::object* object = faults.if_object()) {
        for (const char* key : {"nodes", "duration", "jobs"}) object->erase(key);
        if (object->erase("agentsAlone") > 0)
            problems.push_back({"FieldValueInvalid",
                                "agents alone have faults of their own, which no other world has",
                                "agentsAlone"});
    }
    {
        FieldReader fields(faults, "", problems);
        read_faults(fields, with, problems);
    }
    if (!problems.empty()) return invalid(std::move(problems));
    scenario = std::move(with);
    return {};
}

}  // namespace muster::sim
