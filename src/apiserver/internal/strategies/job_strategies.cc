#include "apiserver/internal/pod_validation/value_checks.h"
#include "apiserver/internal/strategies/pod_defaults.h"
#include "apiserver/internal/strategies/strategies.h"
#include "apiserver/internal/strategies/workload_strategies.h"
#include "apiserver/objects/json_access.h"
#include "base/lower_case.h"
#include "kube/schedule/cron_schedule.h"
#include "kube/values/equality.h"

namespace muster::apiserver {

namespace {

constexpr std::string_view kUidLabel = "batch.kubernetes.io/controller-uid";
constexpr std::string_view kOldUidLabel = "controller-uid";
constexpr std::string_view kNameLabel = "batch.kubernetes.io/job-name";
constexpr std::string_view kOldNameLabel = "job-name";
constexpr std::int64_t kDefaultRetries = 6;
/// For a job that counts failures for each index.
constexpr std::int64_t kUnlimitedRetries = 2147483647;
constexpr std::int64_t kMostParallelIndexes = 100'000;
/// The names of a cron job's jobs are 11 characters longer.
constexpr std::size_t kMostOfCronJobName = 52;

void set_job_defaults(json::object& job) {
    json::object& spec = ensure_object(job, "spec");
    json::object& meta = ensure_object(job, "metadata");  // there since it was decoded
    if (!spec.contains("completions") && !spec.contains("parallelism")) spec["completions"] = 1;
    set_default(spec, "parallelism", json::value(1));
    set_default(
        spec, "backoffLimit",
        json::value(spec.contains("backoffLimitPerIndex") ? kUnlimitedRetries : kDefaultRetries));
    const json::object labels = child(child(child(spec, "template"), "metadata"), "labels");
    if (!labels.empty() && child(meta, "labels").empty()) meta["labels"] = labels;
    set_default(spec, "completionMode", json::value("NonIndexed"));
    set_default(spec, "suspend", json::value(false));
    set_default(spec, "podReplacementPolicy",
                json::value(spec.contains("podFailurePolicy") ? "Failed" : "TerminatingOrFailed"));
    set_default(spec, "manualSelector", json::value(false));
    set_template_defaults(ensure_object(spec, "template"));
}

/// A job selects its pods by its uid, unless it says that its own selector is meant.
void prepare_job(json::object& job, WallTime) {
    job["status"].emplace_object();
    json::object& spec = ensure_object(job, "spec");
    if (bool_at(spec, "manualSelector")) return;
    const std::string name(name_of(job));
    const std::string uid(uid_of(job));
    json::object& labels =
        ensure_object(ensure_object(ensure_object(spec, "template"), "metadata"), "labels");
    // A name that is still to be generated can't be in them.
    if (!name.empty())
        for (const std::string_view key : {kOldNameLabel, kNameLabel})
            set_default(labels, key, json::value(name));
    for (const std::string_view key : {kOldUidLabel, kUidLabel})
        set_default(labels, key, json::value(uid));
    set_default(ensure_object(ensure_object(spec, "selector"), "matchLabels"), kUidLabel,
                json::value(uid));
}

void check_job_spec(const json::object& spec, const std::string& in, FieldErrors& field_errors) {
    check_not_negative(spec, in,
                       {"parallelism", "completions", "activeDeadlineSeconds", "backoffLimit",
                        "ttlSecondsAfterFinished", "backoffLimitPerIndex", "maxFailedIndexes"},
                       field_errors);
    const std::string_view mode = string_at(spec, "completionMode");
    if (mode != "NonIndexed" && mode != "Indexed")
        field_errors.push_back(
            not_supported(in + ".completionMode", mode, {"Indexed", "NonIndexed"}));
    check_choice(spec, "podReplacementPolicy", {"Failed", "TerminatingOrFailed"}, in, field_errors);
    if (mode == "Indexed" && !spec.contains("completions"))
        field_errors.push_back(required(in + ".completions", "when completion mode is Indexed"));
    if (mode == "Indexed" && int_at(spec, "parallelism").value_or(0) > kMostParallelIndexes)
        field_errors.push_back(invalid_value(
            in + ".parallelism", spec.at("parallelism"),
            fmt::format("must be less than or equal to {} when completion mode is Indexed",
                        kMostParallelIndexes)));
    if (mode == "NonIndexed" && spec.contains("backoffLimitPerIndex"))
        field_errors.push_back(invalid_value(in + ".backoffLimitPerIndex",
                                             spec.at("backoffLimitPerIndex"),
                                             "requires indexed completion mode"));
    check_template(spec, in, field_errors);
    const std::string_view restart =
        string_at(child(child(spec, "template"), "spec"), "restartPolicy");
    if (restart == "Always")
        field_errors.push_back(
            required(in + ".template.spec.restartPolicy", R"(valid values: "OnFailure", "Never")"));
    else if (spec.contains("podFailurePolicy") && restart != "Never")
        field_errors.push_back(
            invalid_value(in + ".template.spec.restartPolicy", json::value(restart),
                          R"(only "Never" is supported when podFailurePolicy is specified)"));
}

void validate_job(const json::object& job, FieldErrors& field_errors) {
    const json::object& spec = child(job, "spec");
    check_job_spec(spec, "spec", field_errors);
    const json::object* selector = object_at(spec, "selector");
    if (selector == nullptr) {
        field_errors.push_back(required("spec.selector"));
        return;
    }
    const json::object generated{{"matchLabels", {{kUidLabel, uid_of(job)}}}};
    if (!bool_at(spec, "manualSelector") && !kube::equal(*selector, generated))
        field_errors.push_back(invalid_value("spec.selector", json::value(*selector),
                                             "`selector` not auto-generated"));
    if (const auto read = label_selector_of(selector))
        check_selection(*read, spec, "spec", field_errors);
    else
        field_errors.push_back(
            invalid_value("spec.selector", json::value(*selector), read.error().message()));
}

/// An Indexed job may have more or fewer indexes, all at a time; others keep their number.
void check_completions(const json::object& next, const json::object& current,
                       FieldErrors& field_errors) {
    if (string_at(next, "completionMode") != "Indexed")
        return check_immutable(next, current, "spec", {"completions"}, field_errors);
    const auto wanted = int_at(next, "completions");
    if (wanted && wanted != int_at(current, "completions") && wanted != int_at(next, "parallelism"))
        field_errors.push_back(
            invalid_value("spec.completions", json::value(*wanted),
                          "can only be modified in tandem with spec.parallelism"));
}

void validate_job_update(const json::object& next, const json::object& current,
                         FieldErrors& field_errors) {
    const json::object& before = child(current, "spec");
    check_completions(child(next, "spec"), before, field_errors);
    check_immutable(child(next, "spec"), before, "spec",
                    {"selector", "completionMode", "podFailurePolicy", "backoffLimitPerIndex",
                     "managedBy", "successPolicy"},
                    field_errors);
    // The placement of a job's pods may still be changed while it is suspended.
    if (!bool_at(before, "suspend"))
        check_immutable(child(next, "spec"), before, "spec", {"template"}, field_errors);
}

void set_cron_job_defaults(json::object& cron_job) {
    json::object& spec = ensure_object(cron_job, "spec");
    set_default(spec, "concurrencyPolicy", json::value("Allow"));
    set_default(spec, "suspend", json::value(false));
    set_default(spec, "successfulJobsHistoryLimit", json::value(3));
    set_default(spec, "failedJobsHistoryLimit", json::value(1));
    json::object& job = ensure_object(spec, "jobTemplate");
    set_template_defaults(ensure_object(ensure_object(job, "spec"), "template"));
}

void check_schedule(std::string_view schedule, FieldErrors& field_errors) {
    if (schedule.empty())
        field_errors.push_back(required("spec.schedule"));
    else if (schedule.find("TZ") != std::string_view::npos)
        field_errors.push_back(
            invalid_value("spec.schedule", json::value(schedule),
                          "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"));
    else if (const auto read = kube::CronSchedule::parse(schedule); !read)
        field_errors.push_back(
            invalid_value("spec.schedule", json::value(schedule), read.error().message()));
}

void check_time_zone(const json::object& spec, FieldErrors& field_errors) {
    const json::value* zone = spec.if_contains("timeZone");
    if (zone == nullptr || !zone->is_string()) return;
    const std::string_view name = zone->get_string();
    if (name.empty())
        field_errors.push_back(
            invalid_value("spec.timeZone", *zone, "timeZone must be nil or non-empty string"));
    else if (lower_case(name) == "local")
        field_errors.push_back(invalid_value("spec.timeZone", *zone,
                                             "timeZone must be an explicit time zone as defined in "
                                             "https://www.iana.org/time-zones"));
    else if (!kube::find_time_zone(name))
        field_errors.push_back(
            invalid_value("spec.timeZone", *zone, fmt::format("unknown time zone {}", name)));
}

void validate_cron_job(const json::object& cron_job, FieldErrors& field_errors) {
    const json::object& spec = child(cron_job, "spec");
    if (name_of(cron_job).size() > kMostOfCronJobName)
        field_errors.push_back(invalid_value("metadata.name", json::value(name_of(cron_job)),
                                             "must be no more than 52 characters"));
    check_schedule(string_at(spec, "schedule"), field_errors);
    check_time_zone(spec, field_errors);
    check_not_negative(
        spec, "spec",
        {"startingDeadlineSeconds", "successfulJobsHistoryLimit", "failedJobsHistoryLimit"},
        field_errors);
    const std::string_view policy = string_at(spec, "concurrencyPolicy");
    if (policy != "Allow" && policy != "Forbid" && policy != "Replace")
        field_errors.push_back(
            not_supported("spec.concurrencyPolicy", policy, {"Allow", "Forbid", "Replace"}));
    // The defaults that a job would get at its creation.
    json::object job = child(child(spec, "jobTemplate"), "spec");
    if (object_at(job, "selector") != nullptr)
        field_errors.push_back(invalid_value("spec.jobTemplate.spec.selector", job["selector"],
                                             "`selector` will be auto-generated"));
    set_default(job, "completionMode", json::value("NonIndexed"));
    check_job_spec(job, "spec.jobTemplate.spec", field_errors);
}

}  // namespace

Strategy job_strategy() {
    return {.apply_defaults = set_job_defaults,
            .prepare_create = prepare_job,
            .validate = validate_job,
            .validate_update = validate_job_update};
}

Strategy cron_job_strategy() {
    return {
        .apply_defaults = set_cron_job_defaults,
        .prepare_create = [](json::object& object, WallTime) { object["status"].emplace_object(); },
        .validate = validate_cron_job};
}

}  // namespace muster::apiserver
