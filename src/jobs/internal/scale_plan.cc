#include "jobs/scale_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "jobs/internal/elasticjob/elasticjob.h"
#include "jobs/internal/schema_of.h"
#include "jobs/internal/text.h"
#include "kube/values/field_path.h"
#include "kube/values/name_syntax.h"
#include "kube/values/quantity.h"
#include "kube/values/time.h"

namespace muster::jobs {

const kube::ResourceType kScalePlans{"elastic.iml.github.io", "v1alpha1", "scaleplans",
                                     "ScalePlan"};

// Not in an unnamed namespace: argument-dependent lookup would not find them there.
static FieldNotes field_notes(const ReplicaResources*) {
    return {{.member = "replicas",
             .text = "How many pods of this type there should be; as many as now if unset.",
             .minimum = 0,
             .maximum = kMaxReplicas},
            {.member = "resource", .text = "What new pods of this type request."}};
}

static FieldNotes field_notes(const PlannedPod*) {
    return {{.member = "name", .text = "Name of the pod."},
            {.member = "id", .text = "Its id, the last part of its name.", .minimum = 0},
            {.member = "type", .text = "Its replica type: ps, chief, worker or evaluator."},
            {.member = "rank_index", .text = "Its rank.", .minimum = 0},
            {.member = "service", .text = "Not used: services follow from replicas."},
            {.member = "resource",
             .text = "What the pod, or the one in its place, and those that follow it request: cpu "
                     "and memory. The rest is as its template has it."}};
}

static FieldNotes field_notes(const ScalePlanSpec*) {
    return {{.member = "owner_job", .text = "The ElasticJob to change, in the same namespace."},
            {.member = "replica_resource_specs",
             .text = "Numbers of pods and their resources, by replica type."},
            {.member = "create_pods", .text = "Pods to make."},
            {.member = "remove_pods", .text = "Pods to remove."},
            {.member = "migrate_pods",
             .text = "Pods to replace: each goes when the one in its place is ready."},
            {.member = "ps_hosts", .text = "Not used: the job's own parameter servers count."},
            {.member = "excluded_nodes",
             .text = "Nodes on which no pod of the job is placed that is made from now on."},
            {.member = "spare_pods",
             .text = "Pods that leave first when fewer are wanted: those that train nothing."}};
}

static FieldNotes field_notes(const ScalePlanStatus*) {
    static const auto time = schema_parts::scalar(kube::Schema::Type::kString, "date-time");
    return {{.member = "create_time", .text = "When the operator took it up.", .schema = time},
            {.member = "finish_time", .text = "When it was done or refused.", .schema = time},
            {.member = "phase", .text = "Pending, Scaling, Succeeded or Failed."},
            {.member = "message", .text = "What it waits for, or why it was refused."},
            {.member = "observed_generation",
             .text = "The generation of the plan that phase and message are about."}};
}

namespace {

using Problems = std::vector<Cause>;

/// Those that a plan may change.
std::vector<std::string> scaled_types() {
    return {std::string(kElasticPs), std::string(kElasticChief), std::string(kElasticWorker),
            std::string(kElasticEvaluator)};
}

void check_type(const std::string& type, const std::string& field, Problems& problems) {
    const std::vector<std::string> known = scaled_types();
    if (std::ranges::find(known, type) != known.end()) return;
    problems.push_back(not_supported(
        field, type == kElasticMaster
                   ? std::string("the master of a job is not scaled; leave it out")
                   : fmt::format("an ElasticJob has no replica type \"{}\"{}; write {}",
                                 type.substr(0, 64), did_you_mean(type, known), one_of(known))));
}

void check_amounts(const kube::ResourceList& amounts, const std::string& path, Problems& problems) {
    for (const auto& [name, amount] : amounts) {
        const auto quantity = kube::Quantity::parse(amount);
        if (quantity && !quantity->is_negative()) continue;
        problems.push_back(invalid(kube::child_path(path, name),
                                   "is no amount: write a number with an optional unit, as \"2\" "
                                   "or \"4Gi\""));
    }
}

/// A pod without memory of its own would be one without a limit.
void check_own_amounts(const kube::ResourceList& amounts, const std::string& path,
                       Problems& problems) {
    for (const auto& [name, amount] : amounts) {
        const std::string field = kube::child_path(path, name);
        const auto quantity = kube::Quantity::parse(amount);
        if (!may_be_own(name))
            problems.push_back(not_supported(
                field,
                "single pods have cpu and memory of their own, and the rest from their template: "
                "leave it out, or write it into replicaResourceSpecs"));
        else if (quantity && quantity->is_zero())
            problems.push_back(invalid(field,
                                       "a pod needs more than 0: leave it out for what its "
                                       "template has"));
    }
}

/// How plans name a pod: two entries with one key are about the same pod.
std::string key_of(const PlannedPod& pod) {
    if (!pod.name.empty()) return pod.name;
    return pod.id ? fmt::format("{} {}", pod.type, *pod.id) : std::string();
}

class PlanRules {
  public:
    explicit PlanRules(const ScalePlan& plan) : plan_(plan) {}

    Problems check() && {
        const ScalePlanSpec& spec = plan_.spec;
        if (plan_.metadata.name.empty() && plan_.metadata.generate_name.empty())
            problems_.push_back(required("metadata.name", "the plan needs a name"));
        if (plan_.job_name().empty())
            problems_.push_back(
                required("spec.ownerJob", "the plan needs the name of the ElasticJob to change"));
        for (const auto& [type, wanted] : spec.replica_resource_specs) {
            const std::string path = kube::child_path("spec.replicaResourceSpecs", type);
            check_type(type, path, problems_);
            check_amounts(wanted.resource, path + ".resource", problems_);
        }
        for (std::size_t i = 0; i < spec.create_pods.size(); ++i)
            check_new(spec.create_pods[i], kube::item_path("spec.createPods", i));
        for (std::size_t i = 0; i < spec.remove_pods.size(); ++i)
            check_old(spec.remove_pods[i], kube::item_path("spec.removePods", i));
        for (std::size_t i = 0; i < spec.migrate_pods.size(); ++i)
            check_moved(spec.migrate_pods[i], kube::item_path("spec.migratePods", i));
        check_excluded(spec.excluded_nodes);
        check_spares(spec.spare_pods);
        if (spec.asks_nothing() && plan_.is_manual())
            problems_.push_back(
                required("spec",
                         "the plan changes nothing: write replicaResourceSpecs, createPods, "
                         "removePods, migratePods, excludedNodes or sparePods"));
        return std::move(problems_);
    }

  private:
    void check_new(const PlannedPod& pod, const std::string& path) {
        if (pod.type.empty())
            problems_.push_back(required(path + ".type", "a pod to make needs its replica type"));
        else
            check_type(pod.type, path + ".type", problems_);
        check_amounts(pod.resource, path + ".resource", problems_);
        check_own_amounts(pod.resource, path + ".resource", problems_);
    }

    void check_named(const PlannedPod& pod, const std::string& path) {
        if (pod.name.empty() && (pod.type.empty() || !pod.id))
            problems_.push_back(
                required(path + ".name", "which pod is meant: write its name, or its type and id"));
        if (!pod.type.empty()) check_type(pod.type, path + ".type", problems_);
    }

    void check_old(const PlannedPod& pod, const std::string& path) {
        check_named(pod, path);
        check_amounts(pod.resource, path + ".resource", problems_);
        if (const std::string key = key_of(pod); !key.empty() && !changed_.insert(key).second)
            problems_.push_back(duplicate(
                path, fmt::format("the plan changes the pod {} twice; keep one of the two",
                                  key.substr(0, 128))));
    }

    void check_moved(const PlannedPod& pod, const std::string& path) {
        check_old(pod, path);
        check_own_amounts(pod.resource, path + ".resource", problems_);
    }

    void check_excluded(const std::vector<ExcludedNode>& nodes) {
        const std::string list = "spec.excludedNodes";
        if (nodes.size() > kMostExcludedNodes)
            problems_.push_back(
                invalid(list, fmt::format("names {} nodes, and a job leaves out at most {}",
                                          nodes.size(), kMostExcludedNodes)));
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            const std::string path = kube::item_path(list, i);
            if (nodes[i].node.empty() || !kube::label_value_problem(nodes[i].node).empty())
                problems_.push_back(
                    invalid(path + ".node",
                            "is no node's name: write the value of its label "
                            "kubernetes.io/hostname, as 'kubectl get nodes' has it"));
            if (!nodes[i].until.empty() && !kube::parse_time(nodes[i].until))
                problems_.push_back(invalid(
                    path + ".until",
                    "is no time: write one as \"2026-01-02T03:04:05Z\", or leave it out for "
                    "as long as there is the job"));
        }
    }

    void check_spares(const std::vector<PlannedPod>& pods) {
        for (std::size_t i = 0; i < pods.size(); ++i)
            check_named(pods[i], kube::item_path("spec.sparePods", i));
    }

    const ScalePlan& plan_;
    std::set<std::string> changed_;
    Problems problems_;
};

Problems plan_warnings(const ScalePlan& plan) {
    Problems found;
    const std::map<std::string, std::string>& labels = plan.metadata.labels;
    const auto type = labels.find(std::string(scale_labels::kType));
    if (type != labels.end() && type->second != scale_labels::kManual &&
        type->second != scale_labels::kAuto)
        found.push_back(ineffective(
            fmt::format("metadata.labels[{}]", scale_labels::kType),
            fmt::format("\"{}\" is not known; the plan counts as manual", type->second)));
    for (const std::string_view label : {scale_labels::kJobName, scale_labels::kOldJobName}) {
        const auto named = labels.find(std::string(label));
        if (named == labels.end() || named->second == plan.job_name()) continue;
        found.push_back(doubtful(fmt::format("metadata.labels[{}]", label),
                                 fmt::format("names another job than spec.ownerJob, \"{}\", which "
                                             "counts",
                                             plan.job_name())));
    }
    if (!plan.spec.ps_hosts.empty())
        found.push_back(ineffective("spec.psHosts",
                                    "has no effect: the addresses of the job's own parameter "
                                    "servers count"));
    for (std::size_t i = 0; i < plan.spec.remove_pods.size(); ++i)
        if (!plan.spec.remove_pods[i].resource.empty())
            found.push_back(ineffective(kube::item_path("spec.removePods", i) + ".resource",
                                        "has no effect: the pod goes"));
    return found;
}

std::shared_ptr<kube::Schema> plan_schema(kube::Schema::Ptr metadata) {
    const auto described = [](const kube::Schema::Ptr& schema, std::string text) {
        auto copy = std::make_shared<kube::Schema>(*schema);
        copy->description = std::move(text);
        return copy;
    };
    const kube::Schema::Ptr text = schema_parts::scalar(kube::Schema::Type::kString);
    auto root = std::make_shared<kube::Schema>();
    root->type = kube::Schema::Type::kObject;
    root->description = "A change of the pods of an ElasticJob.";
    root->properties = {
        {"apiVersion", described(text, "Group and version in which the object is written.")},
        {"kind", described(text, "What the object is.")},
        {"metadata", std::move(metadata)},
        {"spec", described(schema_of<ScalePlanSpec>(), "What is wanted.")},
        {"status", described(schema_of<ScalePlanStatus>(),
                             "What has become of it; written by the operator.")}};
    return root;
}

std::string label_of(const kube::ObjectMeta& metadata, std::string_view key) {
    const auto found = metadata.labels.find(std::string(key));
    return found == metadata.labels.end() ? std::string() : found->second;
}

}  // namespace

std::string ScalePlan::job_name() const {
    if (!spec.owner_job.empty()) return spec.owner_job;
    std::string named = label_of(metadata, scale_labels::kJobName);
    return named.empty() ? label_of(metadata, scale_labels::kOldJobName) : named;
}

bool ScalePlan::is_manual() const {
    return label_of(metadata, scale_labels::kType) != scale_labels::kAuto;
}

kube::Schema::Ptr scale_plan_schema() {
    static const kube::Schema::Ptr schema = plan_schema(kube::core_schema("ObjectMeta"));
    return schema;
}

json::value scale_plan_definition() {
    auto metadata = std::make_shared<kube::Schema>();
    metadata->type = kube::Schema::Type::kObject;
    const auto column = [](std::string_view name, std::string_view type, std::string_view path) {
        return json::object{{"name", name}, {"type", type}, {"jsonPath", path}};
    };
    json::object version{
        {"name", kScalePlans.version},
        {"served", true},
        {"storage", true},
        {"additionalPrinterColumns",
         json::array{column("Job", "string", ".spec.ownerJob"),
                     column("Phase", "string", ".status.phase"),
                     column("Age", "date", ".metadata.creationTimestamp")}},
        {"schema", {{"openAPIV3Schema", plan_schema(std::move(metadata))->to_openapi()}}},
        {"subresources", {{"status", json::object()}}}};
    return json::object{{"apiVersion", "apiextensions.k8s.io/v1"},
                        {"kind", "CustomResourceDefinition"},
                        {"metadata", {{"name", kScalePlans.qualified()}}},
                        {"spec",
                         {{"group", kScalePlans.group},
                          {"names",
                           {{"kind", kScalePlans.kind},
                            {"listKind", kScalePlans.kind + "List"},
                            {"plural", kScalePlans.plural},
                            {"singular", lower_case(kScalePlans.kind)}}},
                          {"scope", "Namespaced"},
                          {"versions", json::array{std::move(version)}}}}};
}

ScalePlanReview review_scale_plan(const json::value& object) {
    ScalePlanReview review;
    review.problems = kube::validate(*scale_plan_schema(), object);
    std::erase_if(review.problems, [](const Cause& cause) {
        return cause.field == "status" || cause.field.starts_with("status.");
    });
    std::vector<Cause> unread;
    kube::decode_into(object, review.plan, "", unread);
    for (Cause& cause : unread)
        if (!cause.field.starts_with("status") &&
            std::ranges::find(review.problems, cause.field, &Cause::field) == review.problems.end())
            review.problems.push_back(std::move(cause));
    if (!review.problems.empty()) return review;
    review.problems = PlanRules(review.plan).check();
    if (review.problems.empty()) review.warnings = plan_warnings(review.plan);
    return review;
}

}  // namespace muster::jobs

MUSTER_INSTANTIATE_CODEC(muster::jobs::ReplicaResources);
MUSTER_INSTANTIATE_CODEC(muster::jobs::PlannedPod);
MUSTER_INSTANTIATE_CODEC(muster::jobs::ScalePlanSpec);
MUSTER_INSTANTIATE_CODEC(muster::jobs::ScalePlanStatus);
MUSTER_INSTANTIATE_CODEC(muster::jobs::ScalePlan);
