#include "jobs/internal/choices.h"
#include "jobs/internal/schema_of.h"
#include "jobs/job.h"
#include "jobs/kind.h"

namespace muster::jobs {

namespace schema_parts {

kube::Schema::Ptr scalar(kube::Schema::Type type, std::string format) {
    auto schema = std::make_shared<kube::Schema>();
    schema->type = type;
    schema->format = std::move(format);
    return schema;
}

kube::Schema::Ptr list_of(kube::Schema::Ptr items) {
    auto schema = std::make_shared<kube::Schema>();
    schema->type = kube::Schema::Type::kArray;
    schema->items = std::move(items);
    return schema;
}

kube::Schema::Ptr map_of(kube::Schema::Ptr values) {
    auto schema = std::make_shared<kube::Schema>();
    schema->type = kube::Schema::Type::kObject;
    schema->additional = std::move(values);
    return schema;
}

kube::Schema::Ptr any_object() {
    auto schema = std::make_shared<kube::Schema>();
    schema->type = kube::Schema::Type::kObject;
    schema->preserve_unknown = true;
    return schema;
}

kube::Schema::Ptr with_controller(const kube::Schema::Ptr& spec, const std::string& controller) {
    const kube::Schema* policy = spec->property("runPolicy");
    const kube::Schema* field = policy == nullptr ? nullptr : policy->property("managedBy");
    CHECK(field != nullptr, "every job's spec has a run policy, which says who is in charge");
    auto changed_field = std::make_shared<kube::Schema>(*field);
    changed_field->enumeration.push_back(controller);
    auto changed_policy = std::make_shared<kube::Schema>(*policy);
    changed_policy->properties.insert_or_assign("managedBy", std::move(changed_field));
    auto changed = std::make_shared<kube::Schema>(*spec);
    changed->properties.insert_or_assign("runPolicy", std::move(changed_policy));
    return changed;
}

kube::Schema::Ptr resource_list() {
    static const kube::Schema::Ptr schema = [] {
        const kube::Schema::Ptr resources = kube::core_schema("ResourceRequirements");
        CHECK(resources && resources->properties.contains("limits"),
              "the built-in schemas have resource requirements");
        return resources->properties.find("limits")->second;
    }();
    return schema;
}

}  // namespace schema_parts

namespace {

/// Empty means the default, for clients that write every field.
std::vector<std::string> or_empty(std::vector<std::string> values) {
    values.emplace_back();
    return values;
}

}  // namespace

// Not in an unnamed namespace: argument-dependent lookup would not find them there.
static FieldNotes field_notes(const SchedulingPolicy*) {
    return {
        {.member = "min_available",
         .text = "Pods that must fit before any starts; the number of all pods if unset.",
         .minimum = 0},
        {.member = "queue", .text = "Queue of the gang scheduler."},
        {.member = "min_resources",
         .text =
             "Resources that must be free before any pod starts; summed from the pods if unset."},
        {.member = "priority_class", .text = "Priority class of the pod group."},
        {.member = "schedule_timeout_seconds",
         .text = "How long the pod group may wait to be scheduled.",
         .minimum = 0},
    };
}

static FieldNotes field_notes(const RunPolicy*) {
    return {
        {.member = "clean_pod_policy",
         .text =
             "Which pods are deleted when the job has finished: None (default), Running or All.",
         .values = or_empty(clean_pod_policies())},
        {.member = "ttl_seconds_after_finished",
         .text = "Seconds after which a finished job is deleted; never if unset.",
         .minimum = 0},
        {.member = "active_deadline_seconds",
         .text = "Seconds that the job may run before it fails; no limit if unset.",
         .minimum = 0},
        {.member = "backoff_limit",
         .text =
             "Restarts, of all replicas together, after which the job fails; no limit if unset.",
         .minimum = 0},
        {.member = "scheduling_policy", .text = "How a gang scheduler treats the job's pods."},
        {.member = "suspend", .text = "While true the job has no pods.", .default_value = false},
        {.member = "managed_by",
         .text = "The controller in charge: kubeflow.org/training-operator (this one, default) or "
                 "kueue.x-k8s.io/multikueue.",
         .values = controllers_in_charge()},
    };
}

static FieldNotes field_notes(const ReplicaSpec*) {
    return {
        {.member = "replicas",
         .text = "How many pods of this type.",
         .minimum = 0,
         .maximum = kMaxReplicas},
        {.member = "template_", .text = "What each of these pods is made from."},
        {.member = "restart_policy",
         .text = "What happens when a container ends: Always, OnFailure, Never, or ExitCode (codes "
                 "from 128 on are tried again, others are final).",
         .values = or_empty(restart_policies())},
    };
}

static FieldNotes field_notes(const ReplicaStatus*) {
    return {
        {.member = "active", .text = "Pods that run."},
        {.member = "succeeded", .text = "Pods that ended well."},
        {.member = "failed", .text = "Pods that failed."},
        {.member = "selector", .text = "Label selector of the pods, for the scale subresource."},
        {.member = "restarts",
         .text = "Restarts counted against backoffLimit: containers restarted in place and pods "
                 "replaced.",
         .minimum = 0},
        {.member = "completed_indexes",
         .text = "Replicas that have succeeded while others have not, such as 0-2,5."},
    };
}

static FieldNotes field_notes(const OwnResources*) {
    return {
        {.member = "resource", .text = "What its next pod requests, as cpu and memory."},
        {.member = "instead_of",
         .text = "What the template had then; once it has another amount, that counts."},
    };
}

static FieldNotes field_notes(const ReplicaMembers*) {
    return {
        {.member = "ids", .text = "The replicas that are wanted, such as 0-2,5."},
        {.member = "ranks",
         .text = "The rank of a replica that has taken over that of another one, by its id; the "
                 "others have their ids as their ranks."},
        {.member = "next", .text = "The id that the next replica gets.", .minimum = 0},
        {.member = "resources",
         .text = "What replicas request in place of what their template has, by rank."},
        {.member = "restarts",
         .text =
             "How many restarts the rank of a replica had had before it took that over, by id."},
        {.member = "former_restarts",
         .text = "The restarts of replicas that left without being replaced.",
         .minimum = 0},
    };
}

static FieldNotes field_notes(const AskedReplicas*) {
    return {
        {.member = "replicas",
         .text = "How many a plan has asked for, instead of those of the spec.",
         .minimum = 0},
        {.member = "instead_of",
         .text = "The number of the spec then; once the spec has another one, that counts.",
         .minimum = 0},
        {.member = "resource", .text = "What pods that are made from now on request."},
    };
}

static FieldNotes field_notes(const ExcludedNode*) {
    static const auto time = schema_parts::scalar(kube::Schema::Type::kString, "date-time");
    return {
        {.member = "node",
         .text = "The name of the node, which its label kubernetes.io/hostname has.",
         .required = true},
        {.member = "until",
         .text = "Pods that are made from then on may be placed there again; as long as there is "
                 "the job if unset.",
         .schema = time},
    };
}

static FieldNotes field_notes(const ExecutedPlan*) {
    return {
        {.member = "uid", .text = "Of the ScalePlan that was executed last."},
        {.member = "generation", .text = "Of that plan, as it was executed.", .minimum = 0},
        {.member = "replicas", .text = "What plans have asked of each type beyond the spec."},
        {.member = "excluded_nodes",
         .text = "Nodes on which no new pod is placed, the newest last."},
        {.member = "spares",
         .text = "By type the replicas that leave first when fewer are wanted, such as 3,5-6."},
    };
}

static FieldNotes field_notes(const JobCondition*) {
    static const auto time = schema_parts::scalar(kube::Schema::Type::kString, "date-time");
    return {
        {.member = "type",
         .text = "Created, Running, Restarting, Suspended, Succeeded or Failed.",
         .required = true},
        {.member = "status", .text = "True, False or Unknown.", .required = true},
        {.member = "reason", .text = "One word for programs."},
        {.member = "message", .text = "A sentence for people."},
        {.member = "last_update_time", .text = "When this entry was written.", .schema = time},
        {.member = "last_transition_time", .text = "When its status last changed.", .schema = time},
    };
}

static FieldNotes field_notes(const JobStatus*) {
    static const auto time = schema_parts::scalar(kube::Schema::Type::kString, "date-time");
    return {
        {.member = "conditions", .text = "What the job has come to, newest last."},
        {.member = "replica_statuses", .text = "Pods by state, for each replica type."},
        {.member = "start_time", .text = "When the job was first acted on.", .schema = time},
        {.member = "completion_time", .text = "When it succeeded or failed.", .schema = time},
        {.member = "last_reconcile_time",
         .text = "When it was last looked at while it waited for a gang scheduler.",
         .schema = time},
        {.member = "restart_generation",
         .text = "How often all pods were restarted together; the generation of the pods that "
                 "count now.",
         .minimum = 0},
        {.member = "restarts_in_a_row",
         .text = "How many of these came within ten minutes of the one before, the last one "
                 "included: the more, the longer the pause before the pods are made again.",
         .minimum = 0},
        {.member = "last_restart_time",
         .text = "When all pods were last restarted together.",
         .schema = time},
        {.member = "members",
         .text = "Which replicas of each type are wanted, and their ranks: a replica that replaces "
                 "another one has an id of its own, and the rank of that one."},
        {.member = "plan", .text = "The ScalePlan that was executed last, and what is left of it."},
    };
}

template kube::Schema::Ptr schema_of<RunPolicy>();
template kube::Schema::Ptr schema_of<ReplicaSpec>();
template kube::Schema::Ptr schema_of<ExcludedNode>();

namespace {

/// What DLRover's operator has in addition (go/elasticjob/api/v1alpha1, ElasticJobStatus).
kube::Schema::Ptr dlrover_status_schema(const kube::Schema::Ptr& usual) {
    auto status = std::make_shared<kube::Schema>(*usual);
    auto phase = std::make_shared<kube::Schema>(*schema_parts::scalar(kube::Schema::Type::kString));
    phase->description =
        "The state of the job: Created, Pending, Running, Restarting, Suspended, Succeeded or "
        "Failed.";
    auto copy = std::make_shared<kube::Schema>(*schema_parts::any_object());
    copy->description =
        "Conditions, counts of pods and times once more, where DLRover's operator writes them.";
    status->properties.insert_or_assign("phase", std::move(phase));
    status->properties.insert_or_assign("status", std::move(copy));
    return status;
}

kube::Schema::Ptr of_fixed_ids(const kube::Schema::Ptr& whole) {
    auto schema = std::make_shared<kube::Schema>(*whole);
    std::vector<kube::SchemaProperties::Entry> kept;
    for (const auto& property : whole->properties)
        if (property.first != "members" && property.first != "plan") kept.push_back(property);
    schema->properties = kube::SchemaProperties(std::move(kept));
    return schema;
}

}  // namespace

kube::Schema::Ptr status_schema(StatusForm form, bool rising_ids) {
    static const kube::Schema::Ptr whole = schema_of<JobStatus>();
    static const kube::Schema::Ptr usual = of_fixed_ids(whole);
    const kube::Schema::Ptr& chosen = rising_ids ? whole : usual;
    return form == StatusForm::kDlrover ? dlrover_status_schema(chosen) : chosen;
}

}  // namespace muster::jobs

MUSTER_INSTANTIATE_CODEC(muster::jobs::RunPolicy);
MUSTER_INSTANTIATE_CODEC(muster::jobs::ReplicaSpec);
MUSTER_INSTANTIATE_CODEC(muster::jobs::ReplicaStatus);
MUSTER_INSTANTIATE_CODEC(muster::jobs::OwnResources);
MUSTER_INSTANTIATE_CODEC(muster::jobs::ReplicaMembers);
MUSTER_INSTANTIATE_CODEC(muster::jobs::AskedReplicas);
MUSTER_INSTANTIATE_CODEC(muster::jobs::ExcludedNode);
MUSTER_INSTANTIATE_CODEC(muster::jobs::ExecutedPlan);
MUSTER_INSTANTIATE_CODEC(muster::jobs::JobCondition);
MUSTER_INSTANTIATE_CODEC(muster::jobs::JobStatus);
