#include "workloads/internal/jobs/job_table.h"

#include "kube/values/json_access.h"
#include "kube/values/time.h"
#include "workloads/internal/jobs/conditions.h"

namespace muster::workloads {

namespace {

std::string cron_job_key(const JobRecord& job) {
    return kube::NamespacedName{job.name.namespace_, job.cron_job}.text();
}

}  // namespace

std::optional<JobRecord> job_record(const json::value& job) {
    const json::object* object = job.if_object();
    if (object == nullptr) return std::nullopt;
    const json::object& metadata = kube::metadata_of(*object);
    const json::object& status = kube::child(*object, "status");
    JobRecord record;
    record.name = kube::namespaced_name_of(*object);
    record.uid = kube::uid_of(*object);
    for (const json::object* owner : kube::objects_at(metadata, "ownerReferences")) {
        if (!kube::bool_at(*owner, "controller") || kube::string_at(*owner, "kind") != "CronJob")
            continue;
        record.cron_job = kube::string_at(*owner, "name");
        record.cron_job_uid = kube::string_at(*owner, "uid");
    }
    for (const char* type : {"Complete", "Failed"})
        if (is_true(status, type)) record.ended = type;
    record.created = kube::parse_time(kube::string_at(metadata, "creationTimestamp"));
    record.started = kube::parse_time(kube::string_at(status, "startTime"));
    record.completed = kube::parse_time(kube::string_at(status, "completionTime"));
    record.deleting = kube::is_deleting(*object);
    return record;
}

JobTable::JobTable(kube::Client& client, Clock& clock, Rng& rng)
    : informer_(client, clock, rng, kube::types::kBatchJobs, {}, job_record) {
    informer_.on_change([this](const std::string&, const JobRecord* before,
                               const JobRecord* after) { changed(before, after); });
}

void JobTable::changed(const JobRecord* before, const JobRecord* after) {
    if (before != nullptr && !before->cron_job.empty()) {
        const auto found = by_cron_job_.find(cron_job_key(*before));
        if (found != by_cron_job_.end()) {
            found->second.erase(before->name.name);
            if (found->second.empty()) by_cron_job_.erase(found);
        }
    }
    if (after != nullptr && !after->cron_job.empty())
        by_cron_job_[cron_job_key(*after)].insert_or_assign(after->name.name, *after);
}

std::vector<JobRecord> JobTable::of_cron_job(const kube::NamespacedName& name) const {
    std::vector<JobRecord> jobs;
    const auto found = by_cron_job_.find(name.text());
    if (found != by_cron_job_.end())
        for (const auto& [job_name, job] : found->second) jobs.push_back(job);
    return jobs;
}

}  // namespace muster::workloads
