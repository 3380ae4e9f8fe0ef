#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/async/task_group.h"
#include "kube/client/client.h"
#include "kube/client/informer.h"
#include "operator/internal/cache/integration_caches.h"
#include "operator/internal/cache/job_spec_cache.h"
#include "operator/internal/cache/owned_object_caches.h"
#include "operator/internal/cache/projections.h"
#include "operator/internal/cache/table.h"

namespace muster::operators {

std::string queue_key(const JobRecord& job);

/// What the operator has read of a cluster, kept current by watches: jobs, and the pods, services
/// and other objects of each. For each change it tells which job is affected. Jobs are found by
/// their queue_key(). Thread: the loop of the group.
class JobCaches {
  public:
    struct Options {
        std::string namespace_;  ///< empty: all
        std::vector<const jobs::JobKind*> kinds;
        jobs::Platform platform;
        kube::Reflector::Lists lists;
        SideThread* side_thread = nullptr;  ///< for large jobs; may be null
    };
    struct Handlers {
        /// A null `before`: the job is new. A null `after`, or one with another uid: it is gone.
        std::function<void(const JobPtr* before, const JobPtr* after)> job_changed;
        /// An input of the job's plan has changed.
        std::function<void(const std::string& key)> touched;
        std::function<void(const PodPtr* before, const PodRecord& after)> pod_changed;
    };
    /// A resource whose jobs can't be read.
    struct Refused {
        const kube::ResourceType& type;
        const Error& error;
    };

    /// Refers to all its arguments.
    JobCaches(kube::Client& client, Clock& clock, Rng& rng, TaskGroup& tasks, Options options,
              Handlers handlers);

    /// Returns once the caches are full; the caches of kinds that the server does not have, or that
    /// we may not read, are filled when that changes.
    Task<void> start();
    bool filled() const { return filled_; }

    /// Null if there is none.
    JobPtr find(std::string_view key) const;
    /// The job's present record in the caches; null if it is gone, even if another has its name.
    JobPtr current(const JobRecord& job) const;
    /// The job that controls the object; null if it is in no cache, or there is no such job.
    JobPtr owner_of(const DependentRecord& object) const;
    /// The version in which jobs with this key are read; null if it is not one of our kinds.
    const jobs::JobKind* kind_of(std::string_view key) const;
    /// The complete job, for making pods and services: read again unless it was kept. Null if it
    /// can't be read, or is not as it was known.
    Task<std::shared_ptr<const jobs::Job>> whole_job(JobPtr job);
    /// Jobs that own a pod or a service and are in no cache. The caches of jobs and pods are not
    /// from the same moment: only the API can say that a job is gone.
    std::vector<JobRecord> missing_owners() const;
    std::vector<Refused> refused() const;
    /// Where the jobs run.
    const jobs::Platform& platform() const { return options_.platform; }

    Table& table() { return table_; }
    const Table& table() const { return table_; }
    const OwnedObjectCaches& owned_objects() const { return owned_objects_; }
    const IntegrationCaches& integrations() const { return integrations_; }
    const std::unordered_map<std::string, PodPtr>& pods() const { return pods_.items(); }
    const std::unordered_map<std::string, ServicePtr>& services() const {
        return services_.items();
    }

  private:
    /// Everything of one resource.
    struct Kind {
        const jobs::JobKind* kind = nullptr;  ///< the version in which it is read
        std::unique_ptr<kube::Informer<JobPtr>> informer;
    };

    IntegrationCaches::Handlers integration_handlers();
    template <class Concerned>
    void compare_again(Concerned concerned);
    void add_kind(const jobs::JobKind& kind, Clock& clock, Rng& rng);
    JobPtr read_job(const Kind& kind, const json::value& object);
    Task<std::optional<JobPtr>> read_large_job(const Kind& kind, kube::ObjectPtr object);
    JobPtr known_job(const Kind& kind, const json::value& object) const;
    JobPtr keep(ProjectedJob made);
    void job_changed(const JobPtr* before, const JobPtr* after);
    void pod_changed(const PodPtr* before, const PodPtr* after);
    void service_changed(const ServicePtr* before, const ServicePtr* after);
    void owned_object_changed(const OwnedObjectPtr& before, const OwnedObjectPtr& after);
    void touch_owner(const DependentRecord& object);
    kube::ListOptions job_list() const;
    kube::ListOptions dependent_list() const;
    JobPtr find(std::string_view kind, const std::string& namespace_, const std::string& name,
                const JobUid& uid) const;

    kube::Client& client_;
    TaskGroup& tasks_;
    Options options_;
    Handlers handlers_;
    bool filled_ = false;
    Table table_;
    JobSpecCache specs_;
    OwnedObjectCaches owned_objects_;
    IntegrationCaches integrations_;
    kube::Informer<PodPtr> pods_;
    kube::Informer<ServicePtr> services_;
    std::map<std::string, Kind, std::less<>> kinds_;  ///< by resource.kind
};

}  // namespace muster::operators
