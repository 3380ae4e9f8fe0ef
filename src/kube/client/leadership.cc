#include "kube/client/leadership.h"

#include <fmt/format.h>

#include "base/async/first_of.h"
#include "base/log.h"
#include "base/time/bounded_seconds.h"
#include "base/time/restarting_task.h"
#include "base/time/time_limit.h"
#include "kube/objects/api_status.h"
#include "kube/values/json_access.h"
#include "kube/values/time.h"

namespace muster::kube {

namespace {

WallTime time_at(const json::object& spec, std::string_view key) {
    return parse_time(string_at(spec, key)).value_or(WallTime());
}

LeaseRecord record_of(const json::value& lease) {
    LeaseRecord record;
    record.resource_version = string_at(metadata_of(lease.get_object()), "resourceVersion");
    const json::object* spec = object_at(lease.get_object(), "spec");
    if (spec == nullptr) return record;
    record.holder = string_at(*spec, "holderIdentity");
    record.duration = bounded_seconds(int_at(*spec, "leaseDurationSeconds").value_or(0));
    record.acquired = time_at(*spec, "acquireTime");
    record.renewed = time_at(*spec, "renewTime");
    record.transitions = static_cast<std::int32_t>(int_at(*spec, "leaseTransitions").value_or(0));
    return record;
}

json::object spec_of(const LeaseRecord& record) {
    return {{"holderIdentity", record.holder},
            {"leaseDurationSeconds", record.duration.count()},
            {"acquireTime", format_micro_time(record.acquired)},
            {"renewTime", format_micro_time(record.renewed)},
            {"leaseTransitions", record.transitions}};
}

/// Keeps what others wrote into the Lease; a Lease that changed meanwhile is a conflict.
json::value change_to(const LeaseRecord& record) {
    return json::object{{"metadata", json::object{{"resourceVersion", record.resource_version}}},
                        {"spec", spec_of(record)}};
}

json::value new_lease(const Leadership::Options& options, const LeaseRecord& record) {
    return json::object{
        {"apiVersion", types::kLeases.api_version()},
        {"kind", types::kLeases.kind},
        {"metadata", json::object{{"name", options.name}, {"namespace", options.namespace_}}},
        {"spec", spec_of(record)}};
}

/// A request that hangs leaves room for two more before the deadline.
Duration patience(const ElectionTiming& timing) { return timing.renew_deadline / 3; }

const Error& unanswered() {
    static const Error kError(Code::kTimeout, "there was no answer in time");
    return kError;
}

}  // namespace

Leadership::Leadership(Client& client, Clock& clock, TaskGroup& tasks, Options options)
    : client_(client),
      clock_(clock),
      tasks_(tasks),
      options_(std::move(options)),
      election_(options_.identity, options_.timing),
      changed_(tasks.executor()) {}

void Leadership::start() {
    running_ = true;
    // Whoever leads and no longer takes part must end: others begin to lead when its time is over.
    tasks_.spawn_essential("election", run());
    // Without this one, releases are noticed late: that is no reason to end the process.
    spawn_restarting(tasks_, clock_, "watch of the lease", [this] { return follow(); });
}

Task<void> Leadership::won() {
    while (!leads()) co_await changed_.wait();
}

Task<void> Leadership::lost() {
    while (leads()) co_await wait_until(*election_.leads_until());
}

Task<void> Leadership::run() {
    while (!resigning_) {
        LeaseElection::Step step = election_.next(clock_.now(), clock_.wall_now());
        if (step.act == LeaseElection::Act::kWait) {
            co_await wait_until(step.until);
            continue;
        }
        election_.sent(clock_.now());
        if (step.act == LeaseElection::Act::kRead)
            co_await read();
        else
            co_await write(std::move(step.record));
        changed_.notify_all();
    }
    running_ = false;
    changed_.notify_all();
}

/// Returns at that time, or when something has changed.
Task<void> Leadership::wait_until(Instant when) {
    if (when == Instant::max())
        co_await changed_.wait();
    else
        co_await first_of(clock_.sleep_until(when), changed_.wait());
}

Task<void> Leadership::read() {
    const auto found =
        co_await within(clock_, patience(options_.timing),
                        client_.get(types::kLeases, options_.namespace_, options_.name));
    if (found && *found) {
        failure_.clear();
        election_.read(record_of(***found), clock_.now());
    } else if (found && found->error().code() == Code::kNotFound) {
        failure_.clear();
        election_.read(std::nullopt, clock_.now());
    } else {
        failed("read", found ? found->error() : unanswered());
    }
}

Task<void> Leadership::write(LeaseRecord record) {
    const bool is_new = record.resource_version.empty();
    auto writing =
        is_new ? client_.create(types::kLeases, options_.namespace_, new_lease(options_, record))
               : change(record);
    const auto written = co_await within(clock_, patience(options_.timing), std::move(writing));
    if (written && *written) {
        failure_.clear();
        election_.written(record_of(*(*written)->object), clock_.now());
        co_return;
    }
    const Error& error = written ? written->error() : unanswered();
    const bool outdated = error.code() == Code::kConflict || error.code() == Code::kAlreadyExists ||
                          error.code() == Code::kNotFound;
    if (outdated)
        election_.outdated();
    else
        failed(is_new ? "created" : "written", error);
}

Task<Result<Written>> Leadership::change(const LeaseRecord& record) {
    return client_.patch(types::kLeases, options_.namespace_, options_.name,
                         ContentType::kMergePatch, change_to(record));
}

void Leadership::failed(std::string_view verb, const Error& error) {
    election_.failed();
    if (failure_ == error.message()) return;
    failure_ = error.message();
    log::warning(fmt::format("the lease {}/{} for the leader election can't be {}",
                             options_.namespace_, options_.name, verb),
                 {{"error", failure_}});
}

Task<void> Leadership::follow() {
    for (;;) {
        const Result<void> ended = co_await follow_once();
        // Without it, releases are noticed late, by reads. That is no reason to stop.
        if (!ended && watch_failure_ != ended.error().message()) {
            watch_failure_ = ended.error().message();
            log::warning(fmt::format("the lease {}/{} for the leader election can't be watched",
                                     options_.namespace_, options_.name),
                         {{"error", watch_failure_}});
        }
        co_await clock_.sleep_for(options_.timing.retry);
    }
}

/// Starts from the state of a list: if a server's etcd is too old to tell its watch cache how far
/// it is, it refuses a watch without a state (kube-apiserver 1.32 and 1.36 on etcd 3.4).
Task<Result<void>> Leadership::follow_once() {
    ListOptions one;
    one.namespace_ = options_.namespace_;
    one.field_selector = "metadata.name=" + options_.name;
    CO_TRY(const ListResult listed, co_await client_.list(types::kLeases, one));
    for (const ObjectPtr& lease : listed.items) election_.watched(record_of(*lease), clock_.now());
    changed_.notify_all();
    WatchOptions from_there;
    from_there.namespace_ = one.namespace_;
    from_there.field_selector = one.field_selector;
    from_there.resource_version = listed.resource_version;
    CO_TRY(auto stream, co_await client_.watch(types::kLeases, std::move(from_there)));
    for (;;) {
        CO_TRY(const std::optional<WatchEvent> event, co_await stream->next());
        watch_failure_.clear();
        if (!event) co_return Result<void>();
        if (event->type == WatchEventType::kError) co_return error_from_status(0, *event->object);
        if (event->type == WatchEventType::kBookmark) continue;
        if (event->type == WatchEventType::kDeleted)
            election_.watched_removal(record_of(*event->object), clock_.now());
        else
            election_.watched(record_of(*event->object), clock_.now());
        changed_.notify_all();
    }
}

Task<Result<void>> Leadership::resign() {
    resigning_ = true;
    changed_.notify_all();
    while (running_) co_await changed_.wait();
    const std::optional<LeaseRecord> record = election_.release(clock_.wall_now());
    if (!record) co_return Result<void>();
    const auto released = co_await within(clock_, patience(options_.timing), change(*record));
    if (!released) co_return unanswered();
    if (!*released) co_return released->error();
    co_return Result<void>();
}

}  // namespace muster::kube
