#include "operator/internal/cache/job_caches.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/async/side_thread.h"
#include "base/log.h"
#include "kube/values/json_access.h"

namespace muster::operators {
namespace {

/// How many specs are kept for making pods: of jobs that were read last, and of new ones.
constexpr std::size_t kReadSpecs = 256;
constexpr std::size_t kNewSpecs = 4096;

std::string dependents_selector(const std::vector<const jobs::JobKind*>& kinds) {
    std::string names;
    for (const jobs::JobKind* kind : kinds)
        names += (names.empty() ? "" : ",") + kind->controller_name();
    return fmt::format("{} in ({})", jobs::labels::kOperatorName, names);
}

}  // namespace

std::string queue_key(const JobRecord& job) {
    return queue_key(job.kind->resource.kind, job.namespace_, job.name);
}

JobCaches::JobCaches(kube::Client& client, Clock& clock, Rng& rng, TaskGroup& tasks,
                     Options options, Handlers handlers)
    : client_(client),
      tasks_(tasks),
      options_(std::move(options)),
      handlers_(std::move(handlers)),
      specs_(kReadSpecs, kNewSpecs),
      owned_objects_(client, clock, rng, options_.kinds, options_.platform, options_.namespace_,
                     [this](const OwnedObjectPtr& before, const OwnedObjectPtr& after) {
                         owned_object_changed(before, after);
                     }),
      integrations_(client, clock, rng, tasks, options_.namespace_, integration_handlers()),
      pods_(
          client, clock, rng, kube::types::kPods, dependent_list(),
          [this, &clock](const json::value& object) {
              const PodPtr* known = pods_.find(kube::namespaced_name_of(object.get_object()));
              return project_pod(object, options_.kinds, known == nullptr ? nullptr : known->get(),
                                 clock.wall_now());
          },
          {}, options_.lists),
      services_(
          client, clock, rng, kube::types::kServices, dependent_list(),
          [this](const json::value& object) { return project_service(object, options_.kinds); }, {},
          options_.lists) {
    for (const jobs::JobKind* kind : options_.kinds) add_kind(*kind, clock, rng);
    pods_.on_change([this](const std::string&, const PodPtr* before, const PodPtr* after) {
        pod_changed(before, after);
    });
    services_.on_change([this](const std::string&, const ServicePtr* before,
                               const ServicePtr* after) { service_changed(before, after); });
}

IntegrationCaches::Handlers JobCaches::integration_handlers() {
    return {.changed = [this](const OwnedObjectPtr& before,
                              const OwnedObjectPtr& after) { owned_object_changed(before, after); },
            .known =
                [this](IntegrationType type) {
                    compare_again([type](const IntegrationNeeds& needs) {
                        return std::ranges::find(needs.objects, type, &DesiredObject::type) !=
                               needs.objects.end();
                    });
                },
            .priorities_changed = [this] { compare_again(&IntegrationNeeds::reads_priorities); }};
}

/// Reconciles the jobs with such needs; rare enough for a walk over all jobs.
template <class Concerned>
void JobCaches::compare_again(Concerned concerned) {
    for (const auto& [name, kind] : kinds_)
        for (const auto& [key, job] : kind.informer->items())
            if (job->facts && std::invoke(concerned, job->facts->integrations)) {
                table_.owned_object_changed(job->uid);
                handlers_.touched(queue_key(*job));
            }
}

kube::ListOptions JobCaches::job_list() const {
    kube::ListOptions list;
    list.namespace_ = options_.namespace_;
    return list;
}

kube::ListOptions JobCaches::dependent_list() const {
    kube::ListOptions list = job_list();
    list.label_selector = dependents_selector(options_.kinds);
    return list;
}

void JobCaches::add_kind(const jobs::JobKind& kind, Clock& clock, Rng& rng) {
    Kind& added = kinds_[kind.resource.kind];
    if (added.kind != nullptr) return;  // another version: the API shows all as the first
    added.kind = &kind;
    added.informer = std::make_unique<kube::Informer<JobPtr>>(
        client_, clock, rng, kind.resource, job_list(),
        [this, &added](const json::value& object) -> std::optional<JobPtr> {
            return read_job(added, object);
        },
        std::vector<std::string>{}, options_.lists);
    added.informer->on_change([this](const std::string&, const JobPtr* before,
                                     const JobPtr* after) { job_changed(before, after); });
    if (options_.side_thread != nullptr)
        added.informer->read_large_with([this, &added](kube::ObjectPtr object) {
            return read_large_job(added, std::move(object));
        });
}

Task<void> JobCaches::start() {
    pods_.start(tasks_);
    services_.start(tasks_);
    owned_objects_.start(tasks_);
    for (auto& [name, kind] : kinds_) kind.informer->start(tasks_);
    co_await pods_.wait_synced();
    co_await services_.wait_synced();
    co_await owned_objects_.wait_synced();
    for (auto& [name, kind] : kinds_) co_await kind.informer->wait_settled();
    filled_ = true;
}

// --- events of the watches

JobPtr JobCaches::known_job(const Kind& kind, const json::value& object) const {
    const JobPtr* known = kind.informer->find(kube::namespaced_name_of(object.get_object()));
    return known == nullptr ? nullptr : *known;
}

JobPtr JobCaches::read_job(const Kind& kind, const json::value& object) {
    return keep(project_job(jobs::kind_as_written(*kind.kind, object), object,
                            known_job(kind, object).get(), options_.platform));
}

Task<std::optional<JobPtr>> JobCaches::read_large_job(const Kind& kind, kube::ObjectPtr object) {
    const JobPtr known = known_job(kind, *object);
    co_return keep(co_await options_.side_thread->run("read a job", [this, &kind, object, known] {
        return project_job(jobs::kind_as_written(*kind.kind, *object), *object, known.get(),
                           options_.platform);
    }));
}

JobPtr JobCaches::keep(ProjectedJob made) {
    if (made.job)
        specs_.put(made.record->uid, made.record->generation, std::move(made.job),
                   made.record->status.empty() && !made.record->managed_elsewhere);
    return std::move(made.record);
}

void JobCaches::job_changed(const JobPtr* before, const JobPtr* after) {
    if (before != nullptr && (after == nullptr || (*after)->uid != (*before)->uid)) {
        table_.forget((*before)->uid);
        specs_.forget((*before)->uid);
    }
    if (after != nullptr && (*after)->facts && !(*after)->managed_elsewhere)
        integrations_.want((*after)->facts->integrations);
    handlers_.job_changed(before, after);
}

void JobCaches::pod_changed(const PodPtr* before, const PodPtr* after) {
    table_.apply(before, after);
    if (before != nullptr) touch_owner(**before);
    if (after == nullptr) return;
    touch_owner(**after);
    // Objects of the first list are not news.
    if (before != nullptr || pods_.has_synced()) handlers_.pod_changed(before, **after);
}

void JobCaches::service_changed(const ServicePtr* before, const ServicePtr* after) {
    table_.apply(before, after);
    if (before != nullptr) touch_owner(**before);
    if (after != nullptr) touch_owner(**after);
}

void JobCaches::owned_object_changed(const OwnedObjectPtr& before, const OwnedObjectPtr& after) {
    table_.apply(before, after);
    for (const OwnedObjectPtr& object : {before, after})
        if (object != nullptr)
            handlers_.touched(
                queue_key(object->owner_kind, object->namespace_, object->owner_name));
}

void JobCaches::touch_owner(const DependentRecord& object) {
    handlers_.touched(
        queue_key(object.owner.kind->resource.kind, object.namespace_, object.owner.name));
}

// --- queries

JobPtr JobCaches::find(std::string_view key) const {
    const std::size_t slash = key.find('/');
    const auto kind = kinds_.find(key.substr(0, slash));
    if (kind == kinds_.end()) return nullptr;
    const JobPtr* found = kind->second.informer->find(std::string(key.substr(slash + 1)));
    return found == nullptr ? nullptr : *found;
}

JobPtr JobCaches::find(std::string_view kind, const std::string& namespace_,
                       const std::string& name, const JobUid& uid) const {
    const auto known = kinds_.find(kind);
    if (known == kinds_.end()) return nullptr;
    const JobPtr* found = known->second.informer->find(kube::NamespacedName{namespace_, name});
    return found == nullptr || (*found)->uid != uid ? nullptr : *found;
}

JobPtr JobCaches::current(const JobRecord& job) const {
    return find(job.kind->resource.kind, job.namespace_, job.name, job.uid);
}

JobPtr JobCaches::owner_of(const DependentRecord& object) const {
    const OwnerId& owner = object.owner;
    return find(owner.kind->resource.kind, object.namespace_, owner.name, owner.uid);
}

const jobs::JobKind* JobCaches::kind_of(std::string_view key) const {
    const auto kind = kinds_.find(key.substr(0, key.find('/')));
    return kind == kinds_.end() ? nullptr : kind->second.kind;
}

Task<std::shared_ptr<const jobs::Job>> JobCaches::whole_job(JobPtr job) {
    if (auto known = specs_.find(job->uid, job->generation)) co_return known;
    kube::Client client = client_.of_flow(job->uid.get());
    auto read = co_await client.get(job->kind->resource, job->namespace_, job->name);
    if (!read.has_value()) {
        log::warning("a job could not be read", {{"kind", job->kind->resource.kind},
                                                 {"namespace", job->namespace_},
                                                 {"job", job->name},
                                                 {"error", read.error().message()}});
        co_return nullptr;
    }
    ProjectedJob made = co_await compute_beside(
        options_.side_thread, "read a job", job->large ? kWorthSideThread : 0,
        [this, job, object = *read] {
            return project_job(*job->kind, *object, nullptr, options_.platform);
        });
    if (!made.job || made.record->uid != job->uid || made.record->generation != job->generation ||
        !has_asked(*made.record, job->asked ? *job->asked : Asked()))
        co_return nullptr;  // the watch is about to show its new state
    specs_.put(job->uid, job->generation, made.job, false);
    co_return std::move(made.job);
}

std::vector<JobRecord> JobCaches::missing_owners() const {
    std::map<std::pair<std::string, JobUid>, JobRecord> missing;
    const auto look = [&](const DependentRecord& object) {
        if (object.is_orphan()) return;
        const std::string& kind = object.owner.kind->resource.kind;
        // Jobs that can't be read are not gone.
        if (auto known = kinds_.find(kind);
            known == kinds_.end() || !known->second.informer->has_synced())
            return;
        if (owner_of(object) != nullptr) return;
        JobRecord owner;
        owner.kind = object.owner.kind;
        owner.namespace_ = object.namespace_;
        owner.name = object.owner.name;
        owner.uid = object.owner.uid;
        missing.try_emplace(std::pair(queue_key(owner), owner.uid), owner);
    };
    for (const auto& [key, pod] : pods_.items()) look(*pod);
    for (const auto& [key, service] : services_.items()) look(*service);
    std::vector<JobRecord> jobs;
    for (auto& [key, job] : missing) jobs.push_back(std::move(job));
    return jobs;
}

std::vector<JobCaches::Refused> JobCaches::refused() const {
    std::vector<Refused> all;
    for (const auto& [name, kind] : kinds_)
        if (const Error* refusal = kind.informer->refusal())
            all.push_back({kind.kind->resource, *refusal});
    return all;
}

}  // namespace muster::operators
