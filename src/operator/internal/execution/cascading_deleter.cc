#include "operator/internal/execution/cascading_deleter.h"

#include <algorithm>

#include "base/log.h"
#include "operator/internal/execution/write_batch.h"

namespace muster::operators {
namespace {

void add_object(std::vector<RemainingDependent>& all, const DependentRecord& object, bool is_pod) {
    if (object.deleting) return;
    all.push_back({is_pod, object.name, object.uid, object.resource_version});
}

}  // namespace

std::vector<RemainingDependent> remaining_dependents(const jobs::JobKind& kind,
                                                     const Dependents& dependents) {
    std::vector<RemainingDependent> pods;
    std::vector<RemainingDependent> services;
    bool any_pod = false;
    for (std::size_t type = 0; type < kind.replica_types.size(); ++type) {
        const Dependents::OfType* of = dependents.of(static_cast<std::uint8_t>(type));
        if (of == nullptr) continue;
        for (const Slot& slot : of->slots) {
            any_pod = any_pod || slot.pod || slot.others;
            if (slot.pod) add_object(pods, *slot.pod, true);
            if (slot.others)
                for (const PodPtr& other : *slot.others) add_object(pods, *other, true);
            if (slot.service) add_object(services, *slot.service, false);
        }
    }
    return any_pod ? pods : services;
}

CascadingDeleter::CascadingDeleter(kube::Client& client, TaskGroup& tasks, Table& table,
                                   int parallel)
    : client_(client), tasks_(tasks), table_(table), parallel_(parallel) {}

void CascadingDeleter::add(const std::string& key, const JobRecord& job) {
    auto& of_key = deleted_[key];
    const bool known =
        std::ranges::any_of(of_key, [&](const auto& gone) { return gone->uid == job.uid; });
    if (known) return;
    of_key.push_back(std::make_shared<DeletedJob>(DeletedJob{
        .kind = job.kind, .namespace_ = job.namespace_, .name = job.name, .uid = job.uid}));
}

Task<bool> CascadingDeleter::add_if_gone(std::string key, JobRecord job) {
    const auto read = co_await client_.get(job.kind->resource, job.namespace_, job.name);
    const bool gone =
        read ? metadata_of(**read).uid != job.uid.get() : read.error().code() == Code::kNotFound;
    if (gone) add(key, job);
    co_return gone;
}

Task<bool> CascadingDeleter::reconcile(std::string key) {
    const auto found = deleted_.find(key);
    if (found == deleted_.end()) co_return true;
    const auto complete = std::make_shared<bool>(true);
    std::vector<Write> deletions;
    std::erase_if(found->second, [&](const std::shared_ptr<DeletedJob>& gone) {
        const Dependents* dependents = table_.find(gone->uid);
        if (dependents == nullptr) return true;
        const kube::Client client = client_.of_flow(gone->uid.get());
        for (RemainingDependent& object : remaining_dependents(*gone->kind, *dependents)) {
            if (!gone->asked.insert(object.uid).second) continue;
            deletions.emplace_back([this, gone, object = std::move(object), client, complete] {
                return remove(gone, object, client, complete);
            });
        }
        return false;
    });
    if (found->second.empty()) deleted_.erase(found);
    co_await run_writes(tasks_, std::move(deletions), parallel_);
    co_return *complete;
}

Task<void> CascadingDeleter::remove(std::shared_ptr<DeletedJob> gone, RemainingDependent object,
                                    kube::Client client, std::shared_ptr<bool> complete) {
    const kube::ResourceType& type = object.is_pod ? kube::types::kPods : kube::types::kServices;
    kube::DeleteOptions options;
    options.precondition_uid = object.uid;
    options.precondition_resource_version = object.resource_version;
    const auto removed =
        co_await client.remove(type, gone->namespace_, object.name, std::move(options));
    if (removed || removed.error().code() == Code::kNotFound) co_return;
    gone->asked.erase(object.uid);
    *complete = false;
    // It has changed since: the watch is about to show how.
    if (removed.error().code() == Code::kConflict) co_return;
    log::warning("leftovers of a deleted job could not be deleted",
                 {{"kind", gone->kind->resource.kind},
                  {"namespace", gone->namespace_},
                  {"job", gone->name},
                  {"object", object.name},
                  {"error", removed.error().message()}});
}

}  // namespace muster::operators
