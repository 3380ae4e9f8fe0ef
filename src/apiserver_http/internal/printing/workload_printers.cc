#include <fmt/format.h>

#include "apiserver_http/internal/printing/cell_text.h"
#include "apiserver_http/internal/printing/fields.h"
#include "apiserver_http/internal/printing/printer.h"
#include "base/lower_case.h"
#include "kube/values/time.h"

namespace muster::apiserver_http {

namespace {

constexpr Column kJobColumns[] = {
    kNameColumn,
    {"Status", "string", "", "Whether the job runs, and how it ended."},
    {"Completions", "string", "", "Pods that succeeded, of those that have to."},
    {"Duration", "string", "", "From the start to the end, or to now."},
    kAgeColumn,
    kContainersColumn,
    kImagesColumn,
    kSelectorColumn,
};

std::string job_status(const json::object& job) {
    const json::object& status = child(job, "status");
    if (has_true_condition(status, "Complete")) return "Complete";
    if (has_true_condition(status, "Failed")) return "Failed";
    if (is_deleting(job)) return "Terminating";
    for (const char* type : {"Suspended", "FailureTarget", "SuccessCriteriaMet"})
        if (has_true_condition(status, type)) return type;
    return "Running";
}

std::string job_completions(const json::object& job) {
    const json::object& spec = child(job, "spec");
    const std::int64_t succeeded = number_at(child(job, "status"), "succeeded");
    if (const std::optional<std::int64_t> wanted = int_at(spec, "completions"))
        return fmt::format("{}/{}", succeeded, *wanted);
    const std::int64_t parallelism = number_at(spec, "parallelism");
    if (parallelism > 1) return fmt::format("{}/1 of {}", succeeded, parallelism);
    return fmt::format("{}/1", succeeded);
}

std::string job_duration(const json::object& status, WallTime now) {
    const std::optional<WallTime> start = kube::parse_time(string_at(status, "startTime"));
    if (!start) return {};
    const std::optional<WallTime> end = kube::parse_time(string_at(status, "completionTime"));
    return duration_text(span_between(*start, end.value_or(now)));
}

json::array job_cells(const json::object& job, WallTime now) {
    const json::object& spec = child(job, "spec");
    const ContainerTexts containers = template_containers(spec);
    return {name_of(job),         job_status(job),
            job_completions(job), job_duration(child(job, "status"), now),
            age_of(job, now),     containers.names,
            containers.images,    apiserver::selector_text(object_at(spec, "selector"))};
}

constexpr Column kCronJobColumns[] = {
    kNameColumn,
    {"Schedule", "string", "", "When jobs are made, in the form of cron."},
    {"Timezone", "string", "", "The time zone of the schedule."},
    {"Suspend", "boolean", "", "Whether no more jobs are made."},
    {"Active", "integer", "", "Jobs that run now."},
    {"Last Schedule", "string", "", "Time since a job was made last."},
    kAgeColumn,
    kContainersColumn,
    kImagesColumn,
    kSelectorColumn,
};

std::string_view suspend_text(const json::object& spec) {
    if (!spec.contains("suspend")) return kUnsetText;
    return bool_at(spec, "suspend") ? "True" : "False";
}

json::array cron_job_cells(const json::object& cron_job, WallTime now) {
    const json::object& spec = child(cron_job, "spec");
    const json::object& status = child(cron_job, "status");
    const json::object& job_spec = child(child(spec, "jobTemplate"), "spec");
    const ContainerTexts containers = template_containers(job_spec);
    const std::string_view last = string_at(status, "lastScheduleTime");
    return {name_of(cron_job),
            string_at(spec, "schedule"),
            or_else(string_at(spec, "timeZone"), apiserver::kNoneText),
            suspend_text(spec),
            objects_at(status, "active").size(),
            last.empty() ? std::string(apiserver::kNoneText) : age_text(last, now),
            age_of(cron_job, now),
            containers.names,
            containers.images,
            apiserver::selector_text(object_at(job_spec, "selector"))};
}

constexpr Column kDeploymentColumns[] = {
    kNameColumn,
    {"Ready", "string", "", "Ready pods, of those that are wanted."},
    {"Up-to-date", "string", "", "Pods of the newest template."},
    {"Available", "string", "", "Pods that have been ready for long enough."},
    kAgeColumn,
    kContainersColumn,
    kImagesColumn,
    kSelectorColumn,
};

json::array deployment_cells(const json::object& deployment, WallTime now) {
    const json::object& spec = child(deployment, "spec");
    const json::object& status = child(deployment, "status");
    const ContainerTexts containers = template_containers(spec);
    return {name_of(deployment),
            fmt::format("{}/{}", number_at(status, "readyReplicas"), number_at(spec, "replicas")),
            number_at(status, "updatedReplicas"),
            number_at(status, "availableReplicas"),
            age_of(deployment, now),
            containers.names,
            containers.images,
            apiserver::selector_text(object_at(spec, "selector"))};
}

constexpr Column kReplicaSetColumns[] = {
    kNameColumn,
    {"Desired", "integer", "", "Pods that are wanted."},
    {"Current", "integer", "", "Pods that there are."},
    {"Ready", "integer", "", "Pods that are ready."},
    kAgeColumn,
    kContainersColumn,
    kImagesColumn,
    kSelectorColumn,
};

json::array replica_set_cells(const json::object& set, WallTime now) {
    const json::object& spec = child(set, "spec");
    const json::object& status = child(set, "status");
    const ContainerTexts containers = template_containers(spec);
    return {name_of(set),
            number_at(spec, "replicas"),
            number_at(status, "replicas"),
            number_at(status, "readyReplicas"),
            age_of(set, now),
            containers.names,
            containers.images,
            apiserver::selector_text(object_at(spec, "selector"))};
}

json::array replication_controller_cells(const json::object& controller, WallTime now) {
    json::array cells = replica_set_cells(controller, now);
    cells.back() = apiserver::labels_text(object_at(child(controller, "spec"), "selector"));
    return cells;
}

constexpr Column kPodTemplateColumns[] = {
    kNameColumn,
    {"Containers", "string", "", kContainersColumn.description},
    {"Images", "string", "", kImagesColumn.description},
    {"Pod Labels", "string", "", "Labels of its pods."},
};

json::array pod_template_cells(const json::object& object, WallTime) {
    const ContainerTexts containers = template_containers(object);
    return {
        name_of(object), containers.names, containers.images,
        apiserver::labels_text(object_at(child(child(object, "template"), "metadata"), "labels"))};
}

constexpr Column kRevisionColumns[] = {
    kNameColumn,
    {"Controller", "string", "", "What it is a former state of."},
    {"Revision", "string", "", "Its number among those."},
    kAgeColumn,
};

json::array revision_cells(const json::object& revision, WallTime now) {
    std::string controller(apiserver::kNoneText);
    for (const json::object* owner : objects_at(metadata_of(revision), "ownerReferences")) {
        if (!bool_at(*owner, "controller")) continue;
        const std::string_view version = string_at(*owner, "apiVersion");
        const std::size_t slash = version.find('/');
        controller = lower_case(string_at(*owner, "kind"));
        if (slash != std::string_view::npos)
            controller += fmt::format(".{}", version.substr(0, slash));
        controller += fmt::format("/{}", string_at(*owner, "name"));
    }
    return {name_of(revision), controller, number_at(revision, "revision"), age_of(revision, now)};
}

constexpr Column kStatefulSetColumns[] = {
    kNameColumn,   {"Ready", "string", "", "Ready pods, of those that are wanted."},
    kAgeColumn,    kContainersColumn,
    kImagesColumn,
};

json::array stateful_set_cells(const json::object& set, WallTime now) {
    const json::object& spec = child(set, "spec");
    const ContainerTexts containers = template_containers(spec);
    return {name_of(set),
            fmt::format("{}/{}", number_at(child(set, "status"), "readyReplicas"),
                        number_at(spec, "replicas")),
            age_of(set, now), containers.names, containers.images};
}

constexpr Column kDaemonSetColumns[] = {
    kNameColumn,
    {"Desired", "integer", "", "Nodes that should run a pod of it."},
    {"Current", "integer", "", "Nodes that run one."},
    {"Ready", "integer", "", "Nodes whose pod is ready."},
    {"Up-to-date", "integer", "", "Nodes whose pod has the newest template."},
    {"Available", "integer", "", "Nodes whose pod has been ready for long enough."},
    {"Node Selector", "string", "", "Labels of the nodes that it is for."},
    kAgeColumn,
    kContainersColumn,
    kImagesColumn,
    kSelectorColumn,
};

json::array daemon_set_cells(const json::object& set, WallTime now) {
    const json::object& spec = child(set, "spec");
    const json::object& status = child(set, "status");
    const ContainerTexts containers = template_containers(spec);
    return {
        name_of(set),
        number_at(status, "desiredNumberScheduled"),
        number_at(status, "currentNumberScheduled"),
        number_at(status, "numberReady"),
        number_at(status, "updatedNumberScheduled"),
        number_at(status, "numberAvailable"),
        apiserver::labels_text(object_at(child(child(spec, "template"), "spec"), "nodeSelector")),
        age_of(set, now),
        containers.names,
        containers.images,
        apiserver::selector_text(object_at(spec, "selector"))};
}

constexpr Column kAutoscalerColumns[] = {
    kNameColumn,
    {"Reference", "string", "", "What is scaled."},
    {"Targets", "string", "", "Each metric's current value and its target."},
    {"MinPods", "string", "", "The fewest replicas."},
    {"MaxPods", "string", "", "The most replicas."},
    {"Replicas", "string", "", "The replicas that were seen last."},
    kAgeColumn,
};

/// "10%/80%", "500m/1": the current value of a metric and its target.
std::string metric_text(const json::object& target, const json::object& current,
                        bool utilization_is_default) {
    const json::value* average = target.if_contains("averageValue");
    const json::value* value = target.if_contains("value");
    if (average != nullptr || value != nullptr) {
        const char* const key = average != nullptr ? "averageValue" : "value";
        return fmt::format("{}/{}",
                           or_else(apiserver::scalar_text(current.if_contains(key)), kUnknownText),
                           apiserver::scalar_text(target.if_contains(key)));
    }
    if (!utilization_is_default) return fmt::format("{}/<auto>", kUnknownText);
    const auto percent = [](const json::object& of, std::string_view instead) {
        const std::optional<std::int64_t> number = int_at(of, "averageUtilization");
        return number ? fmt::format("{}%", *number) : std::string(instead);
    };
    return fmt::format("{}/{}", percent(current, kUnknownText), percent(target, "<auto>"));
}

/// HorizontalPodAutoscaler's names of the five kinds of metrics.
struct MetricSource {
    std::string_view type;
    const char* key;
    bool named;          ///< the cell says which resource it is
    bool marks_average;  ///< ... and that a target is an average
};
constexpr MetricSource kMetricSources[] = {
    {"Resource", "resource", true, false}, {"ContainerResource", "containerResource", true, false},
    {"Pods", "pods", false, false},        {"Object", "object", false, true},
    {"External", "external", false, true},
};

std::string metric_cell(const json::object& spec, const json::object* status) {
    const std::string_view type = string_at(spec, "type");
    for (const MetricSource& source : kMetricSources) {
        if (type != source.type) continue;
        const json::object& wanted = child(spec, source.key);
        const json::object& target = child(wanted, "target");
        const json::object& seen = status == nullptr ? child({}, "") : child(*status, source.key);
        std::string text = metric_text(target, child(seen, "current"), source.named);
        if (source.marks_average && target.contains("averageValue")) text += " (avg)";
        return source.named ? fmt::format("{}: {}", string_at(wanted, "name"), text) : text;
    }
    return "<unknown type>";
}

std::string metrics_text(const json::object& spec, const json::object& status) {
    // autoscaling/v1 knows only one.
    if (const auto target = int_at(spec, "targetCPUUtilizationPercentage")) {
        const auto current = int_at(status, "currentCPUUtilizationPercentage");
        return fmt::format("cpu: {}/{}%",
                           current ? fmt::format("{}%", *current) : std::string(kUnknownText),
                           *target);
    }
    const auto wanted = objects_at(spec, "metrics");
    const auto seen = objects_at(status, "currentMetrics");
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < wanted.size(); ++i)
        texts.push_back(metric_cell(*wanted[i], i < seen.size() ? seen[i] : nullptr));
    constexpr std::size_t kShown = 2;
    if (texts.empty()) return std::string(apiserver::kNoneText);
    if (texts.size() <= kShown) return joined(texts, ", ");
    const std::size_t more = texts.size() - kShown;
    texts.resize(kShown);
    return fmt::format("{} + {} more...", joined(texts, ", "), more);
}

json::array autoscaler_cells(const json::object& autoscaler, WallTime now) {
    const json::object& spec = child(autoscaler, "spec");
    const json::object& status = child(autoscaler, "status");
    const json::object& target = child(spec, "scaleTargetRef");
    return {name_of(autoscaler),
            fmt::format("{}/{}", string_at(target, "kind"), string_at(target, "name")),
            metrics_text(spec, status),
            or_else(apiserver::scalar_text(spec.if_contains("minReplicas")), kUnsetText),
            number_at(spec, "maxReplicas"),
            number_at(status, "currentReplicas"),
            age_of(autoscaler, now)};
}

constexpr Column kDisruptionBudgetColumns[] = {
    kNameColumn,
    {"Min Available", "string", "", "Pods that have to stay."},
    {"Max Unavailable", "string", "", "Pods that may be missing."},
    {"Allowed Disruptions", "integer", "", "Pods that may be evicted now."},
    kAgeColumn,
};

json::array disruption_budget_cells(const json::object& budget, WallTime now) {
    const json::object& spec = child(budget, "spec");
    return {name_of(budget),
            or_else(apiserver::scalar_text(spec.if_contains("minAvailable")), "N/A"),
            or_else(apiserver::scalar_text(spec.if_contains("maxUnavailable")), "N/A"),
            number_at(child(budget, "status"), "disruptionsAllowed"), age_of(budget, now)};
}

constexpr Printer kWorkloadPrinters[] = {
    {"jobs.batch", kJobColumns, job_cells},
    {"cronjobs.batch", kCronJobColumns, cron_job_cells},
    {"deployments.apps", kDeploymentColumns, deployment_cells},
    {"replicasets.apps", kReplicaSetColumns, replica_set_cells},
    {"replicationcontrollers", kReplicaSetColumns, replication_controller_cells},
    {"podtemplates", kPodTemplateColumns, pod_template_cells},
    {"controllerrevisions.apps", kRevisionColumns, revision_cells},
    {"statefulsets.apps", kStatefulSetColumns, stateful_set_cells},
    {"daemonsets.apps", kDaemonSetColumns, daemon_set_cells},
    {"horizontalpodautoscalers.autoscaling", kAutoscalerColumns, autoscaler_cells},
    {"poddisruptionbudgets.policy", kDisruptionBudgetColumns, disruption_budget_cells},
};

}  // namespace

std::span<const Printer> workload_printers() { return kWorkloadPrinters; }

}  // namespace muster::apiserver_http
