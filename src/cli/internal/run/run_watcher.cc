#include "cli/internal/run/run_watcher.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "jobs/kind.h"

namespace muster::cli {

namespace {

kube::ListOptions in(std::string ns) {
    kube::ListOptions options;
    options.namespace_ = std::move(ns);
    return options;
}

kube::ListOptions named(std::string ns, std::string_view name) {
    kube::ListOptions options = in(std::move(ns));
    options.field_selector = fmt::format("metadata.name={}", name);
    return options;
}

/// The others are not reported, and a busy namespace has thousands.
std::optional<EventView> warning_view(const json::value& object) {
    std::optional<EventView> view = event_view(object);
    if (view && !view->warning) view.reset();
    return view;
}

/// In the order of their names, since a cache has no order.
template <class T>
std::map<std::string, const T*> sorted(const kube::Informer<T>& informer) {
    std::map<std::string, const T*> all;
    for (const auto& [key, item] : informer.items()) all.emplace(key, &item);
    return all;
}

}  // namespace

RunWatcher::RunWatcher(kube::Client& client, Clock& clock, Rng& rng,
                       const std::vector<manifest::CheckedObject>& objects, Handlers handlers)
    : client_(client), clock_(clock), rng_(rng), handlers_(std::move(handlers)) {
    std::map<std::string, std::vector<std::string>> jobs_of;  // by namespace
    std::set<std::string> namespaces;
    for (const manifest::CheckedObject& object : objects) {
        const bool is_pod = object.type == kube::types::kPods;
        if (!object.job && !is_pod) continue;
        namespaces.insert(object.namespace_);
        if (is_pod) {
            watch_pods(named(object.namespace_, object.name));
            continue;
        }
        jobs_of[object.namespace_].push_back(object.name);
        job_informers_.push_back(std::make_unique<kube::Informer<JobView>>(
            client_, clock_, rng_, object.type, named(object.namespace_, object.name), job_view));
        job_informers_.back()->on_change(
            [this](const std::string&, const JobView* before, const JobView* after) {
                job_changed(before, after);
            });
    }
    for (const auto& [ns, names] : jobs_of) {
        kube::ListOptions options = in(ns);
        options.label_selector =
            fmt::format("{} in ({})", jobs::labels::kJobName, fmt::join(names, ","));
        watch_pods(std::move(options));
    }
    for (const std::string& ns : namespaces) {
        event_informers_.push_back(std::make_unique<kube::Informer<EventView>>(
            client_, clock_, rng_, kube::types::kEvents, in(ns), warning_view));
        event_informers_.back()->on_change(
            [this](const std::string&, const EventView* before, const EventView* after) {
                if (after != nullptr && known_.contains(after->uid))
                    handlers_.event(before, *after);
            });
    }
}

void RunWatcher::watch_pods(kube::ListOptions options) {
    pod_informers_.push_back(std::make_unique<kube::Informer<PodView>>(
        client_, clock_, rng_, kube::types::kPods, std::move(options), pod_view));
    pod_informers_.back()->on_change([this](const std::string&, const PodView* before,
                                            const PodView* after) { pod_changed(before, after); });
}

void RunWatcher::start(TaskGroup& tasks) {
    for (auto& informer : job_informers_) informer->start(tasks);
    for (auto& informer : pod_informers_) informer->start(tasks);
    for (auto& informer : event_informers_) informer->start(tasks);
}

Task<Result<void>> RunWatcher::wait_settled() {
    for (auto& informer : job_informers_) {
        co_await informer->wait_settled();
        if (const Error* refusal = informer->refusal()) co_return *refusal;
    }
    for (auto& informer : pod_informers_) {
        co_await informer->wait_settled();
        if (const Error* refusal = informer->refusal()) co_return *refusal;
    }
    for (auto& informer : event_informers_) co_await informer->wait_settled();
    co_return Result<void>();
}

const Error* RunWatcher::events_refusal() const {
    for (const auto& informer : event_informers_)
        if (const Error* refusal = informer->refusal()) return refusal;
    return nullptr;
}

void RunWatcher::add(const std::string& uid) {
    added_.insert(uid);
    known_.insert(uid);
    for (const auto& informer : job_informers_)
        for (const auto& [key, job] : sorted(*informer))
            if (job->uid == uid) job_changed(nullptr, job);
    for (const auto& informer : pod_informers_)
        for (const auto& [key, pod] : sorted(*informer))
            if (pod->uid == uid || pod->owner_uid == uid) pod_seen(*pod);
    tell_events_about(uid);
    if (auto gone = gone_jobs_.extract(uid)) handlers_.job(&gone.mapped(), nullptr);
    if (auto gone = gone_pods_.extract(uid)) handlers_.pod(&gone.mapped(), nullptr);
}

/// The names of events about one object are in the order in which they were made.
void RunWatcher::tell_events_about(const std::string& uid) {
    for (const auto& informer : event_informers_)
        for (const auto& [key, event] : sorted(*informer))
            if (event->uid == uid) handlers_.event(nullptr, *event);
}

void RunWatcher::job_changed(const JobView* before, const JobView* after) {
    // A list after a lost connection may show another object under the name.
    if (before != nullptr && (after == nullptr || after->uid != before->uid)) {
        if (auto gone = jobs_.extract(before->uid))
            handlers_.job(&gone.mapped(), nullptr);
        else if (!added_.contains(before->uid))
            gone_jobs_.emplace(before->uid, *before);
    }
    if (after == nullptr || !added_.contains(after->uid)) return;
    auto [it, is_new] = jobs_.try_emplace(after->uid, *after);
    if (is_new) return handlers_.job(nullptr, &it->second);
    const JobView then = std::exchange(it->second, *after);
    handlers_.job(&then, &it->second);
}

void RunWatcher::pod_changed(const PodView* before, const PodView* after) {
    const bool ours =
        after != nullptr && (added_.contains(after->uid) || added_.contains(after->owner_uid));
    // A pod that its job released no longer belongs to it, just like one that is gone.
    if (before != nullptr && (!ours || after->uid != before->uid)) {
        if (auto gone = pods_.extract(before->uid))
            handlers_.pod(&gone.mapped(), nullptr);
        else if (before->owner_uid.empty() && !added_.contains(before->uid))
            gone_pods_.emplace(before->uid, *before);
    }
    if (ours) pod_seen(*after);
}

void RunWatcher::pod_seen(const PodView& pod) {
    auto [it, is_new] = pods_.try_emplace(pod.uid, pod);
    if (!is_new) {
        const PodView then = std::exchange(it->second, pod);
        return handlers_.pod(&then, &it->second);
    }
    handlers_.pod(nullptr, &it->second);
    if (known_.insert(pod.uid).second) tell_events_about(pod.uid);
}

}  // namespace muster::cli
