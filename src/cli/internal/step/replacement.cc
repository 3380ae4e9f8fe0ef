#include "cli/internal/step/replacement.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/async/task_group.h"
#include "jobs/kind.h"
#include "kube/client/informer.h"
#include "kube/objects/api_status.h"
#include "kube/objects/resource_type.h"
#include "kube/values/json_access.h"

namespace muster::cli {

namespace {

constexpr Duration kFirstFindPause = std::chrono::milliseconds(200);
constexpr Duration kLongestFindPause = std::chrono::seconds(2);

std::string metadata_at(const json::value& object, std::string_view key) {
    const json::object* const fields = object.if_object();
    if (fields == nullptr) return {};
    return std::string(kube::string_at(kube::child(*fields, "metadata"), key));
}

/// A server that is away, or that has no time or no storage yet.
bool may_pass(const Error& error) {
    return kube::is_unanswered(error) || error.code() == Code::kTooManyRequests;
}

/// What a watch keeps of an object: whose it is.
std::optional<std::string> uid_view(const json::value& object) {
    return metadata_at(object, "uid");
}

}  // namespace

Replacement::Replacement(asio::any_io_executor executor, Clock& clock, Rng& rng,
                         kube::Client& client, Console& console, kube::ResourceType type,
                         std::string ns, std::string labels)
    : executor_(executor),
      clock_(clock),
      rng_(rng),
      client_(client),
      console_(console),
      type_(std::move(type)),
      namespace_(std::move(ns)),
      labels_(std::move(labels)),
      changed_(executor) {}

void Replacement::stop() {
    stopped_ = true;
    changed_.notify_all();
}

Task<void> Replacement::wake_at(Instant when) {
    co_await clock_.sleep_until(when);
    changed_.notify_all();
}

Task<Result<std::vector<Replacement::Earlier>>> Replacement::find(Instant deadline) {
    Duration pause = kFirstFindPause;
    for (bool told = false;; told = true) {
        kube::ListOptions options;
        options.namespace_ = namespace_;
        options.label_selector = labels_;
        const Result<kube::ListResult> found = co_await client_.list(type_, options);
        if (found) {
            std::vector<Earlier> jobs;
            for (const kube::ObjectPtr& object : found->items)
                jobs.push_back({metadata_at(*object, "name"), metadata_at(*object, "uid")});
            co_return jobs;
        }
        Error error = found.error();
        error.prefix("looking for jobs of an earlier try");
        if (!may_pass(error) || stopped_ || clock_.now() + pause >= deadline) co_return error;
        if (!told) console_.tell({Tone::kBad, fmt::format("{}; trying again", error.message())});
        co_await clock_.sleep_for(pause);
        pause = std::min(pause * 2, kLongestFindPause);
    }
}

Task<Result<void>> Replacement::remove(std::vector<Earlier> jobs) {
    for (const Earlier& job : jobs) {
        console_.tell({Tone::kPlain, fmt::format("{} {} is of an earlier try of this step: "
                                                 "deleting it",
                                                 type_.kind, job.name)});
        kube::DeleteOptions options;
        options.propagation = kube::Propagation::kForeground;
        options.precondition_uid = job.uid;
        Result<void> removed = co_await client_.remove(type_, namespace_, job.name, options);
        const bool gone = removed || removed.error().code() == Code::kNotFound ||
                          removed.error().code() == Code::kConflict;
        if (!gone)
            co_return Error(removed.error())
                .prefix(fmt::format("deleting {} {} of an earlier try", type_.kind, job.name));
    }
    co_return Result<void>();
}

Task<Result<Replacement::End>> Replacement::wait_until_gone(std::vector<Earlier> jobs,
                                                            Instant deadline) {
    std::vector<std::string> names;
    for (const Earlier& job : jobs) names.push_back(job.name);
    kube::ListOptions of_jobs;
    of_jobs.namespace_ = namespace_;
    of_jobs.label_selector = labels_;
    kube::ListOptions of_pods;
    of_pods.namespace_ = namespace_;
    of_pods.label_selector =
        fmt::format("{} in ({})", jobs::labels::kJobName, fmt::join(names, ","));
    kube::Informer<std::string> job_watch(client_, clock_, rng_, type_, of_jobs, uid_view);
    kube::Informer<std::string> pod_watch(client_, clock_, rng_, kube::types::kPods, of_pods,
                                          uid_view);
    for (auto* watch : {&job_watch, &pod_watch})
        watch->on_change([this](const std::string&, const std::string*, const std::string*) {
            changed_.notify_all();
        });
    for (auto* watch : {&job_watch, &pod_watch})
        watch->on_list([this](const Error*) { changed_.notify_all(); });
    TaskGroup tasks(executor_);
    job_watch.start(tasks);
    pod_watch.start(tasks);
    tasks.spawn_essential("limit of the replacement", wake_at(deadline));
    const auto all_gone = [&] {
        const bool known = job_watch.has_synced() && pod_watch.has_synced();
        return known && pod_watch.items().empty() &&
               std::ranges::none_of(job_watch.items(), [&](const auto& item) {
                   return std::ranges::find(jobs, item.second, &Earlier::uid) != jobs.end();
               });
    };
    while (!all_gone() && !stopped_ && clock_.now() < deadline && job_watch.refusal() == nullptr &&
           pod_watch.refusal() == nullptr)
        co_await changed_.wait();
    const bool gone = all_gone();
    std::optional<Error> refused;
    for (const auto* watch : {&job_watch, &pod_watch})
        if (watch->refusal() != nullptr) refused = *watch->refusal();
    co_await tasks.stop();
    if (gone) co_return End::kDone;
    if (refused) co_return Error(*refused).prefix("watching jobs of an earlier try");
    co_return stopped_ ? End::kStopped : End::kTooLate;
}

Task<Result<Replacement::End>> Replacement::run(Duration limit) {
    const Instant deadline = clock_.now() + limit;
    Result<std::vector<Earlier>> found = co_await find(deadline);
    if (stopped_) co_return End::kStopped;
    if (!found) co_return found.error();
    if (found->empty()) co_return End::kDone;
    CO_TRY_VOID(co_await remove(*found));
    co_return co_await wait_until_gone(*found, deadline);
}

}  // namespace muster::cli
