#include "cli/internal/run/run_session.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/time/restarting_task.h"
#include "cli/internal/install/installation.h"
#include "kube/objects/api_status.h"
#include "kube/values/document.h"
#include "kube/values/json_access.h"

namespace muster::cli {

namespace {

/// How long pods that outlive their job may take to end by themselves: ranks of one job stop within
/// moments of each other, and their last lines matter. Parameter servers never end.
constexpr Duration kLinger = std::chrono::seconds(5);
/// A working operator writes something about a new job within a second.
constexpr Duration kUnattended = std::chrono::seconds(10);
/// Pause between tries to delete when the connection to the server is broken; doubled each time.
constexpr Duration kFirstRemovalPause = std::chrono::seconds(1);
constexpr Duration kLongestRemovalPause = std::chrono::seconds(30);
/// How many remaining pods are named.
constexpr std::size_t kNamed = 5;

double seconds_between(Instant from, Instant to) {
    return std::chrono::duration<double>(to - from).count();
}

/// Whether the manifest itself says that a job's other pods may finish after it. What is only the
/// default asks for nothing.
bool keeps_its_pods(const manifest::CheckedObject& object) {
    if (!object.job || object.job->run_policy.clean_pod_policy != "None") return false;
    constexpr std::string_view kField = "cleanPodPolicy";
    const json::object& spec = kube::child(object.document.object.get_object(), "spec");
    return spec.contains(kField) || kube::child(spec, "runPolicy").contains(kField);
}

/// Parameter servers serve until they are stopped, and so do masters of jobs with agents.
bool never_finishes(const PodView& pod) {
    return pod.replica_type == "ps" || pod.replica_type == "dlrover-master" ||
           pod.replica_type == "elasticmaster" || pod.replica_type == "server" ||
           pod.replica_type == "scheduler";
}

/// "a, b, c and 7 more".
std::string name_some(const std::vector<std::string>& names) {
    const auto shown = static_cast<std::ptrdiff_t>(std::min(names.size(), kNamed));
    std::string text = fmt::format("{}", fmt::join(names.begin(), names.begin() + shown, ", "));
    if (names.size() > kNamed) text += fmt::format(" and {} more", names.size() - kNamed);
    return text;
}

}  // namespace

RunSession::RunSession(asio::any_io_executor executor, Clock& clock, Rng& rng, kube::Client& client,
                       Console& console, std::vector<manifest::CheckedObject> objects,
                       Options options)
    : clock_(clock),
      client_(client),
      console_(console),
      objects_(std::move(objects)),
      options_(std::move(options)),
      tasks_(executor),
      changed_(executor),
      logs_(client_, clock_, tasks_, console_, changed_,
            {.directory = options_.logs_dir, .ranks = options_.ranks}),
      watcher_(client_, clock_, rng, objects_,
               {.job = [this](const JobView* before,
                              const JobView* after) { job_changed(before, after); },
                .pod = [this](const PodView* before,
                              const PodView* after) { pod_changed(before, after); },
                .event =
                    [this](const EventView* before, const EventView& after) {
                        ++changes_;
                        history_.event_changed(after);
                        console_.tell(tell_event(before, &after));
                    }}),
      submission_(client_, console_, objects_, !options_.on_cluster,
                  [this] { return stop_ != Stop::kNone; }) {}

RunSession::~RunSession() = default;

void RunSession::stop(Stop why) {
    if (stop_ == Stop::kNone) {
        stop_ = why;
        console_.clear_progress();
        std::string_view reason = why == Stop::kTimeout    ? "the time is up"
                                  : why == Stop::kHopeless ? "restarts lead nowhere"
                                  : why == Stop::kAway     ? "the server does not answer"
                                  : why == Stop::kStuck    ? "it can't run"
                                                           : "interrupted";
        std::string_view again = why != Stop::kInterrupt ? ""
                                 : options_.on_cluster   ? " (Ctrl-C again leaves at once)"
                                                         : " (Ctrl-C again kills them)";
        console_.tell(
            {Tone::kBad, fmt::format("{}: deleting the jobs and waiting for their {}{}", reason,
                                     options_.on_cluster ? "pods to go" : "processes", again)});
        if (options_.stop_timeout)
            tasks_.spawn_essential("end of the stop",
                                   give_up_at(clock_.now() + *options_.stop_timeout));
    } else {
        impatient_ = true;
    }
    changed_.notify_all();
}

Task<void> RunSession::give_up_at(Instant deadline) {
    co_await clock_.sleep_until(deadline);
    impatient_ = true;
    changed_.notify_all();
}

Task<int> RunSession::run() {
    started_ = clock_.now();
    // A task of its own, so that an impatient user need not wait for an answer. Without it and the
    // times below this process, which is for its own run, would wait for what never comes.
    tasks_.spawn_essential("post", post());
    if (options_.timeout) tasks_.spawn_essential("timeout", wake_at(started_ + *options_.timeout));
    while (phase_ == Phase::kPosting && !impatient_) {
        co_await changed_.wait();
        check_time();
    }
    if (phase_ != Phase::kPosted) {
        if (phase_ == Phase::kPosting) tell_what_stays();
        co_await tasks_.stop();
        if (stop_ != Stop::kNone) co_return static_cast<int>(stop_);
        co_return failure_ ? 1 : 2;
    }
    if (options_.on_cluster) {
        unattended_at_ = clock_.now() + kUnattended;
        tasks_.spawn_essential("look for an operator", wake_at(*unattended_at_));
    }
    if (console_.live()) spawn_restarting(tasks_, clock_, "progress", [this] { return tick(); });
    while (!all_ended() && stop_ == Stop::kNone) {
        co_await changed_.wait();
        check_time();
    }
    if (stop_ == Stop::kNone) co_await linger();
    if (stop_ == Stop::kNone && !options_.on_cluster) co_await wait_for_kept_pods();
    for (Posted& posted : posted_)
        if (!posted.ended) posted.ended = clock_.now();
    // Before the removal, which ends pods in ways that are not failures.
    verdicts_ = make_verdicts();
    if (options_.before_removal) co_await options_.before_removal();
    if (stop_ != Stop::kNone) co_await remove_all();
    if (options_.collect_objects) co_await collect();
    console_.clear_progress();
    int status = tell_verdicts(verdicts_);
    if (stop_ == Stop::kNone) co_await leave(status == 0);
    for (const std::string& problem : logs_.take_problems()) console_.tell({Tone::kBad, problem});
    co_await tasks_.stop();
    const bool by_itself = stop_ == Stop::kNone || stop_ == Stop::kHopeless;
    co_return by_itself ? status : static_cast<int>(stop_);
}

/// All have ended: what becomes of them.
Task<void> RunSession::leave(bool succeeded) {
    if (options_.removes_ended && options_.removes_ended(succeeded)) {
        tasks_.spawn_essential("end of the removal",
                               give_up_at(clock_.now() + options_.stop_timeout.value_or(kLinger)));
        co_await remove_all();
    } else if (pods_running()) {
        if (options_.on_cluster)
            tell_what_runs_on();
        else
            co_await remove_all();
    }
}

/// Handles everything that is due, and checks whether the output still has a reader.
void RunSession::check_time() {
    if (stop_ != Stop::kNone) return;
    if (options_.timeout && clock_.now() >= started_ + *options_.timeout &&
        (!all_ended() || waits_for_pods_))
        stop(Stop::kTimeout);
    if (console_.broken()) stop(Stop::kReaderGone);
    check_crash_loop();
    if (unattended_at_ && clock_.now() >= *unattended_at_) {
        unattended_at_.reset();
        tell_unattended();
    }
}

void RunSession::check_crash_loop() {
    if (options_.give_up_after == 0 || told_crash_loop_ || all_ended()) return;
    const auto loop = history_.crash_loop(options_.give_up_after);
    if (!loop) return;
    told_crash_loop_ = true;
    console_.tell(
        {Tone::kBad,
         fmt::format("pod {}, container {} {}, {} times in a row and each time within {:.0f} s of "
                     "its start: it will not succeed by restarts; look at its last lines{}",
                     loop->pod, loop->container, describe(loop->end), loop->times,
                     std::max(loop->seconds, 1.0),
                     options_.on_cluster ? ", and delete the job unless it waits for something"
                                         : " (--give-up-after 0 lets it continue)")});
    if (!options_.on_cluster) stop(Stop::kHopeless);
}

// --- posting

Task<void> RunSession::post() {
    const bool posted = co_await try_to_post();
    if (!posted && options_.on_cluster) co_await submission_.withdraw();
    phase_ = posted ? Phase::kPosted : Phase::kRefused;
    changed_.notify_all();
}

Task<bool> RunSession::try_to_post() {
    const bool rehearsed = co_await submission_.rehearse();
    if (!rehearsed) {
        failure_ = submission_.failure();
        co_return false;
    }
    watcher_.start(tasks_);
    if (Result<void> watched = co_await watcher_.wait_settled(); !watched) {
        failure_ = std::move(watched.error());
        co_return false;
    }
    if (const Error* refused = watcher_.events_refusal())
        console_.tell({Tone::kBad, "problems of the pods can't be shown: " + refused->message()});
    const bool posted = co_await submission_.post([this](std::size_t object, std::string uid) {
        posted_.push_back({.object = object, .uid = uid});
        watcher_.add(uid);
    });
    failure_ = submission_.failure();
    co_return posted;
}

// --- following

RunSession::Posted* RunSession::posted_with(const std::string& uid) {
    auto it = std::ranges::find(posted_, uid, &Posted::uid);
    return it == posted_.end() ? nullptr : &*it;
}

void RunSession::job_changed(const JobView* before, const JobView* after) {
    ++changes_;
    console_.tell(tell_job(before, after));
    const JobView& job = after != nullptr ? *after : *before;
    if (Posted* posted = posted_with(job.uid)) {
        posted->job = job;
        if (job.finished() && !posted->ended) posted->ended = clock_.now();
        if (after == nullptr) lose(*posted);
    }
    show_progress();
    changed_.notify_all();
}

void RunSession::pod_changed(const PodView* before, const PodView* after) {
    ++changes_;
    history_.pod_changed(before, after);
    console_.tell(tell_pod(before, after));
    if (after != nullptr)
        logs_.observe(*after);
    else
        logs_.forget(*before);
    const PodView& pod = after != nullptr ? *after : *before;
    if (Posted* posted = posted_with(pod.uid)) {
        posted->pod = pod;
        if (pod.finished() && !posted->ended) posted->ended = clock_.now();
        if (after == nullptr) lose(*posted);
    }
    changed_.notify_all();
}

/// It is gone. One that has not ended, and that we did not delete, never will.
void RunSession::lose(Posted& posted) {
    // A watch can tell that it is gone before the answer to its removal comes.
    if (stop_ != Stop::kNone) posted.removed = true;
    if (posted.ended || stop_ != Stop::kNone) return;
    posted.ended = clock_.now();
    posted.lost = true;
    console_.tell({Tone::kBad, fmt::format("{} is gone: someone deleted it",
                                           shown_name(objects_[posted.object]))});
}

void RunSession::lose_jobs() {
    for (Posted& posted : posted_)
        if (objects_[posted.object].job) lose(posted);
    changed_.notify_all();
}

void RunSession::tell_unattended() {
    for (const Posted& posted : posted_) {
        const manifest::CheckedObject& object = objects_[posted.object];
        if (!object.job || posted.ended || (posted.job && !posted.job->conditions.empty()))
            continue;
        console_.tell(
            {Tone::kBad,
             fmt::format("job {0}: nothing has acted on it for {1} s, so no operator seems to run "
                         "{2} here; 'kubectl get pods -A -l app.kubernetes.io/name={3}' shows "
                         "muster's, 'muster manifests | kubectl apply -f -' installs it",
                         object.name,
                         std::chrono::duration_cast<std::chrono::seconds>(kUnattended).count(),
                         object.type.plural, kOperatorName)});
    }
}

bool RunSession::all_ended() const {
    return phase_ == Phase::kPosted && std::ranges::all_of(posted_, [](const Posted& posted) {
               return posted.ended.has_value();
           });
}

bool RunSession::pods_running() const {
    return std::ranges::any_of(watcher_.pods(),
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
    if (console_.live()) {
        console_.progress(fmt::format("{} · {:.0f} s", text, elapsed));
    } else if (text != told_progress_) {
        console_.progress(fmt::format("{} · {}", text, tell_duration(elapsed)));
        told_progress_ = std::move(text);
    }
}

std::string RunSession::progress_text() const {
    std::string text;
    for (const auto& [uid, job] : watcher_.jobs()) {
        if (job.counts() == CountsView{}) continue;  // before anything has started
        if (!text.empty()) text += "; ";
        text += fmt::format("{}: {}", job.name, tell_progress(job));
    }
    return text;
}

// --- ending

Task<void> RunSession::linger() {
    Instant deadline = clock_.now() + kLinger;
    tasks_.spawn_essential("linger", wake_at(deadline));
    while (stop_ == Stop::kNone && clock_.now() < deadline && (pods_running() || logs_.busy()))
        co_await changed_.wait();
}

/// Running pods whose job has ended and lets them finish.
std::vector<std::string> RunSession::kept_pods() const {
    std::vector<std::string> names;
    for (const auto& [uid, pod] : watcher_.pods()) {
        const bool kept = std::ranges::any_of(posted_, [&](const Posted& posted) {
            return posted.uid == pod.owner_uid && keeps_its_pods(objects_[posted.object]);
        });
        if (kept && !pod.finished() && !never_finishes(pod)) names.push_back(pod.name);
    }
    std::ranges::sort(names);
    return names;
}

Task<void> RunSession::wait_for_kept_pods() {
    const std::vector<std::string> names = kept_pods();
    if (names.empty()) co_return;
    console_.tell(
        {Tone::kPlain,
         fmt::format("waiting for {}: cleanPodPolicy: None lets pods finish after their job; "
                     "Ctrl-C ends them",
                     name_some(names))});
    waits_for_pods_ = true;
    for (check_time(); stop_ == Stop::kNone && !kept_pods().empty(); check_time())
        co_await changed_.wait();
    waits_for_pods_ = false;
    if (stop_ == Stop::kNone) co_await linger();
}

Task<void> RunSession::collect() {
    for (const manifest::CheckedObject& object : objects_) {
        auto last = co_await client_.get(object.type, object.namespace_, object.name);
        if (last) final_objects_.push_back(kube::copy_of(**last));
    }
}

std::vector<Verdict> RunSession::make_verdicts() const {
    std::vector<Verdict> verdicts;
    for (const Posted& posted : posted_) {
        Verdict verdict;
        if (posted.job)
            verdict = history_.verdict(*posted.job);
        else if (posted.pod)
            verdict = history_.verdict(*posted.pod);
        else
            verdict.name = shown_name(objects_[posted.object]);
        verdict.seconds = seconds_between(started_, posted.ended.value_or(clock_.now()));
        const bool hopeless = stop_ == Stop::kHopeless && verdict.failure;
        if (verdict.result.empty() || verdict.result == "unfinished")
            verdict.result = posted.lost               ? "deleted"
                             : stop_ == Stop::kTimeout ? "timed out"
                             : hopeless                ? "failed"
                                                       : "interrupted";
        verdicts.push_back(std::move(verdict));
    }
    return verdicts;
}

std::vector<Told> RunSession::told(const Verdict& verdict) const {
    std::vector<std::string> lines;
    if (verdict.failure)
        lines = logs_.last_lines(verdict.failure->pod_uid, verdict.failure->container,
                                 verdict.failure->instance);
    return tell_verdict(verdict, lines);
}

int RunSession::tell_verdicts(const std::vector<Verdict>& verdicts) {
    int status = 0;
    for (const Verdict& verdict : verdicts) {
        console_.tell(told(verdict));
        // What went because another job was hopeless decides nothing.
        if (status == 0 && (stop_ != Stop::kHopeless || verdict.failure))
            status = verdict.exit_code;
    }
    return status == 0 && stop_ == Stop::kHopeless ? 1 : status;
}

Task<void> RunSession::remove_all() {
    removing_ = posted_.size();
    for (Posted& posted : posted_)
        tasks_.spawn("delete " + objects_[posted.object].name, remove(posted),
                     [this](const std::string&) {
                         --removing_;
                         changed_.notify_all();
                     });
    while (!impatient_ && (removing_ > 0 || !leaving_pods().empty())) co_await changed_.wait();
    tell_what_stays();
}

Task<void> RunSession::remove(Posted& posted) {
    const manifest::CheckedObject& object = objects_[posted.object];
    kube::DeleteOptions options;
    options.propagation = kube::Propagation::kBackground;
    options.precondition_uid = posted.uid;
    Duration pause = kFirstRemovalPause;
    for (bool told = false;; told = true) {
        auto removed =
            co_await client_.remove(object.type, object.namespace_, object.name, options);
        // A conflict: another one has the name by now.
        if (removed || removed.error().code() == Code::kNotFound ||
            removed.error().code() == Code::kConflict)
            posted.removed = true;
        if (posted.removed) break;
        if (!told)
            console_.tell({Tone::kBad,
                           fmt::format("deleting {}: {}{}", object.name, removed.error().message(),
                                       kube::is_away(removed.error()) ? "; trying again" : "")});
        if (!kube::is_away(removed.error())) break;
        co_await clock_.sleep_for(pause);
        pause = std::min(pause * 2, kLongestRemovalPause);
    }
    --removing_;
    changed_.notify_all();
}

/// The pods of what was deleted. Pods of a job that could not be deleted keep running.
std::vector<std::string> RunSession::leaving_pods() const {
    std::vector<std::string> names;
    for (const auto& [uid, pod] : watcher_.pods()) {
        const bool leaves = std::ranges::any_of(posted_, [&pod](const Posted& posted) {
            return posted.removed && (posted.uid == pod.uid || posted.uid == pod.owner_uid);
        });
        // With a bound there is time to wait until their names are free, too.
        if (leaves && (options_.stop_timeout || !pod.finished())) names.push_back(pod.name);
    }
    std::ranges::sort(names);
    return names;
}

/// Reports what stays behind. On one machine that is nothing.
void RunSession::tell_what_stays() {
    if (!options_.on_cluster) return;
    if (phase_ == Phase::kPosting)
        console_.tell({Tone::kBad,
                       "the last request has no answer yet: 'muster get' shows what it "
                       "has made"});
    for (const Posted& posted : posted_) {
        const manifest::CheckedObject& object = objects_[posted.object];
        if (posted.removed || posted.lost) continue;
        console_.tell({Tone::kBad, fmt::format("{} stays: 'muster delete {} {} -n {}' deletes it",
                                               shown_name(object), object.type.plural, object.name,
                                               object.namespace_)});
    }
    const std::vector<std::string> leaving = leaving_pods();
    if (!leaving.empty())
        console_.tell({Tone::kBad, "pods that are not gone yet: " + name_some(leaving)});
}

void RunSession::tell_what_runs_on() {
    if (std::ranges::any_of(posted_, &Posted::lost)) return;  // its pods are deleted after it
    std::vector<std::string> running;
    for (const auto& [uid, pod] : watcher_.pods())
        if (!pod.finished() && !pod.deleting) running.push_back(pod.name);
    std::ranges::sort(running);
    if (!running.empty())
        console_.tell({Tone::kPlain,
                       "pods that keep running, as cleanPodPolicy says: " + name_some(running)});
}

}  // namespace muster::cli
