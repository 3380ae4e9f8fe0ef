#include "cli/internal/run/run_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "kube/document.h"

namespace muster::cli {

namespace {

/// How long pods that outlive their job may end by themselves: ranks of one job stop within moments
/// of each other, and their last lines matter. Parameter servers never end.
constexpr Duration kLinger = std::chrono::seconds(5);

double seconds_between(Instant from, Instant to) {
    return std::chrono::duration<double>(to - from).count();
}

bool is_workload(const CheckedObject& object) {
    return object.job.has_value() || object.type == kube::types::kPods;
}

}  // namespace

RunSession::RunSession(asio::any_io_executor executor, Clock& clock, Rng& rng, kube::Client& client,
                       Screen& screen, std::vector<CheckedObject> objects, Options options)
    : clock_(clock),
      client_(client),
      rng_(rng),
      screen_(screen),
      objects_(std::move(objects)),
      options_(std::move(options)),
      tasks_(executor),
      changed_(executor) {
    logs_ = std::make_unique<LogFollower>(client_, tasks_, screen_, changed_, options_.logs_dir);
}

RunSession::~RunSession() = default;

void RunSession::stop(Stop why) {
    if (stop_ == Stop::kNone) {
        stop_ = why;
        screen_.clear_progress();
        std::string_view reason = why == Stop::kTimeout ? "the time is up" : "interrupted";
        screen_.tell({Tone::kBad,
                      fmt::format("{}: deleting the jobs and waiting for their processes{}", reason,
                                  why == Stop::kInterrupt ? " (Ctrl-C again kills them)" : "")});
    } else {
        impatient_ = true;
    }
    changed_.notify_all();
}

Task<int> RunSession::run() {
    started_ = clock_.now();
    bool accepted = co_await post();
    if (!accepted) {
        co_await tasks_.stop();
        co_return 2;
    }
    if (options_.timeout) tasks_.spawn("timeout", wake_at(started_ + *options_.timeout));
    if (screen_.live()) tasks_.spawn("progress", tick());
    while (!all_ended() && stop_ == Stop::kNone) {
        co_await changed_.wait();
        if (options_.timeout && stop_ == Stop::kNone &&
            clock_.now() >= started_ + *options_.timeout && !all_ended())
            stop(Stop::kTimeout);
        if (screen_.broken()) stop(Stop::kReaderGone);
    }
    if (stop_ == Stop::kNone) co_await linger();
    for (Posted& posted : posted_)
        if (!posted.ended) posted.ended = clock_.now();
    // Before the removal, which ends pods in ways that are nobody's failure.
    std::vector<Verdict> verdicts = make_verdicts();
    if (stop_ != Stop::kNone) co_await remove_all();
    if (options_.collect_objects) co_await collect();
    screen_.clear_progress();
    int status = tell_verdicts(verdicts);
    if (stop_ == Stop::kNone && pods_running()) co_await remove_all();
    for (const std::string& problem : logs_->take_problems()) screen_.tell({Tone::kBad, problem});
    co_await tasks_.stop();
    co_return stop_ == Stop::kNone ? status : static_cast<int>(stop_);
}

// --- posting

Task<bool> RunSession::post() {
    watch();
    co_await pods_->wait_synced();
    co_await events_->wait_synced();
    for (auto& informer : jobs_) co_await informer->wait_synced();
    bool made = co_await make_namespaces();
    if (!made) co_return false;
    bool accepted = co_await post_all(true);
    if (!accepted) co_return false;
    co_return co_await post_all(false);
}

/// Those of the manifest, then those that its objects name.
Task<bool> RunSession::make_namespaces() {
    std::map<std::string, json::value> wanted;
    for (const CheckedObject& object : objects_) {
        if (object.type == kube::types::kNamespaces) wanted[object.name] = object.document.object;
        if (object.namespace_.empty() || wanted.contains(object.namespace_)) continue;
        wanted[object.namespace_] = json::object{{"apiVersion", "v1"},
                                                 {"kind", "Namespace"},
                                                 {"metadata", {{"name", object.namespace_}}}};
    }
    for (auto& [name, object] : wanted) {
        auto written = co_await client_.create(kube::types::kNamespaces, {}, std::move(object));
        if (written || written.error().code() == Code::kAlreadyExists) continue;
        screen_.tell({Tone::kBad,
                      fmt::format("making the namespace {}: {}", name, written.error().message())});
        co_return false;
    }
    co_return true;
}

/// The dry run first, so that a refusal of one object comes before any has started.
Task<bool> RunSession::post_all(bool dry_run) {
    bool accepted = true;
    // What the jobs use comes before them.
    for (bool workload : {false, true}) {
        for (std::size_t i = 0; i < objects_.size(); ++i) {
            const CheckedObject& object = objects_[i];
            if (is_workload(object) != workload || object.type == kube::types::kNamespaces)
                continue;
            kube::WriteOptions options;
            options.dry_run = dry_run;
            options.field_validation =
                kube::FieldValidation::kIgnore;  // the check has told about them
            json::value body = object.document.object;
            auto written =
                co_await client_.create(object.type, object.namespace_, std::move(body), options);
            if (!written) {
                refuse(object, written.error());
                accepted = false;
            } else if (!dry_run && workload) {
                std::string uid(written->object->at("metadata").at("uid").get_string());
                posted_.push_back({i, uid, object.namespace_ + "/" + object.name, std::nullopt});
            }
        }
    }
    co_return accepted;
}

void RunSession::refuse(const CheckedObject& object, const Error& error) {
    if (error.causes().empty())
        problems_.push_back(object.document.problem(Severity::kError, "", error.message()));
    for (const Cause& cause : error.causes())
        problems_.push_back(object.document.problem(Severity::kError, cause.field, cause.message));
}

// --- following

void RunSession::watch() {
    pods_ = std::make_unique<kube::Informer<PodView>>(client_, clock_, rng_, kube::types::kPods,
                                                      kube::ListOptions{}, pod_view);
    pods_->on_change([this](const std::string&, const PodView* before, const PodView* after) {
        pod_changed(before, after);
    });
    pods_->start(tasks_);
    events_ = std::make_unique<kube::Informer<EventView>>(
        client_, clock_, rng_, kube::types::kEvents, kube::ListOptions{}, event_view);
    events_->on_change([this](const std::string&, const EventView* before, const EventView* after) {
        if (after == nullptr) return;
        chronicle_.event_changed(*after);
        screen_.tell(tell_event(before, after));
    });
    events_->start(tasks_);
    std::set<std::string> watched;
    for (const CheckedObject& object : objects_) {
        if (!object.job || !watched.insert(object.type.qualified()).second) continue;
        jobs_.push_back(std::make_unique<kube::Informer<JobView>>(
            client_, clock_, rng_, object.type, kube::ListOptions{}, job_view));
        jobs_.back()->on_change([this](const std::string&, const JobView* before,
                                       const JobView* after) { job_changed(before, after); });
        jobs_.back()->start(tasks_);
    }
}

void RunSession::pod_changed(const PodView* before, const PodView* after) {
    chronicle_.pod_changed(before, after);
    screen_.tell(tell_pod(before, after));
    if (after != nullptr) {
        logs_->observe(*after);
        for (Posted& posted : posted_)
            if (posted.uid == after->uid && after->finished() && !posted.ended)
                posted.ended = clock_.now();
    }
    changed_.notify_all();
}

void RunSession::job_changed(const JobView* before, const JobView* after) {
    screen_.tell(tell_job(before, after));
    if (after != nullptr) {
        job_states_[after->uid] = *after;
        for (Posted& posted : posted_)
            if (posted.uid == after->uid && after->finished() && !posted.ended)
                posted.ended = clock_.now();
        show_progress();
    }
    changed_.notify_all();
}

bool RunSession::all_ended() const {
    return std::ranges::all_of(posted_, [&](const Posted& posted) {
        if (posted.ended) return true;
        auto job = job_states_.find(posted.uid);
        return job != job_states_.end() && job->second.finished();
    });
}

bool RunSession::pods_running() const {
    return std::ranges::any_of(pods_->items(),
                               [](const auto& entry) { return !entry.second.finished(); });
}

Task<void> RunSession::wake_at(Instant deadline) {
    co_await clock_.sleep_until(deadline);
    changed_.notify_all();
}

Task<void> RunSession::tick() {
    for (;;) {
        co_await clock_.sleep_for(std::chrono::seconds(1));
        show_progress();
    }
}

void RunSession::show_progress() {
    std::string text = progress_text();
    if (text.empty() || stop_ != Stop::kNone) return;
    const double elapsed = seconds_between(started_, clock_.now());
    if (screen_.live()) {
        screen_.progress(fmt::format("{} · {:.0f} s", text, elapsed));
    } else if (text != told_progress_) {
        screen_.progress(fmt::format("{} · {}", text, tell_duration(elapsed)));
        told_progress_ = std::move(text);
    }
}

std::string RunSession::progress_text() const {
    std::string text;
    for (const auto& [uid, job] : job_states_) {
        if (job.counts() == CountsView{}) continue;  // before anything has started
        if (!text.empty()) text += "; ";
        text += fmt::format("{}: {}", job.name, tell_progress(job));
    }
    return text;
}

// --- ending

Task<void> RunSession::linger() {
    Instant deadline = clock_.now() + kLinger;
    tasks_.spawn("linger", wake_at(deadline));
    while (stop_ == Stop::kNone && clock_.now() < deadline && (pods_running() || logs_->busy()))
        co_await changed_.wait();
}

Task<void> RunSession::collect() {
    for (const CheckedObject& object : objects_) {
        auto last = co_await client_.get(object.type, object.namespace_, object.name);
        if (last) final_objects_.push_back(kube::copy_of(**last));
    }
}

std::vector<Verdict> RunSession::make_verdicts() const {
    std::vector<Verdict> verdicts;
    for (const Posted& posted : posted_) {
        Verdict verdict;
        auto job = job_states_.find(posted.uid);
        if (job != job_states_.end())
            verdict = chronicle_.verdict(job->second);
        else if (const PodView* pod = pods_->find(posted.key))
            verdict = chronicle_.verdict(*pod);
        verdict.seconds = seconds_between(started_, posted.ended.value_or(clock_.now()));
        if (verdict.result == "unfinished")
            verdict.result = stop_ == Stop::kTimeout ? "timed out" : "interrupted";
        verdicts.push_back(std::move(verdict));
    }
    return verdicts;
}

int RunSession::tell_verdicts(const std::vector<Verdict>& verdicts) {
    int status = 0;
    for (const Verdict& verdict : verdicts) {
        std::vector<std::string> lines;
        if (verdict.failure)
            lines = logs_->last_lines(verdict.failure->pod_uid, verdict.failure->container);
        screen_.tell(tell_verdict(verdict, lines));
        if (status == 0) status = verdict.exit_code;
    }
    return status;
}

Task<void> RunSession::remove_all() {
    for (const Posted& posted : posted_) {
        const CheckedObject& object = objects_[posted.object];
        kube::DeleteOptions options;
        options.propagation = kube::Propagation::kBackground;
        options.precondition_uid = posted.uid;
        auto removed =
            co_await client_.remove(object.type, object.namespace_, object.name, options);
        if (!removed && removed.error().code() != Code::kNotFound)
            screen_.tell({Tone::kBad,
                          fmt::format("deleting {}: {}", object.name, removed.error().message())});
    }
    while (!impatient_ && pods_running()) co_await changed_.wait();
}

}  // namespace muster::cli
