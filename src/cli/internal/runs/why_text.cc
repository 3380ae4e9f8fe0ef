#include "cli/internal/runs/why_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "cli/internal/run/event_text.h"
#include "cli/internal/run/run_history.h"
#include "cli/internal/step/stuck.h"
#include "jobs/kind.h"
#include "kube/values/json_access.h"
#include "kube/values/time.h"

namespace muster::cli {

namespace {

double seconds_between(std::string_view from, std::string_view to) {
    const auto begin = kube::parse_time(from);
    const auto end = kube::parse_time(to);
    return begin && end ? std::chrono::duration<double>(*end - *begin).count() : 0;
}

double seconds_of(const json::object& job) {
    const json::object& status = kube::child(job, "status");
    return seconds_between(kube::string_at(status, "startTime"),
                           kube::string_at(status, "completionTime"));
}

void add(std::string& text, const std::vector<Told>& lines) {
    for (const Told& line : lines) text += line.text + "\n";
}

/// Containers that were started again, each with how the last start ended.
void add_restarts(std::string& text, const std::map<std::string, PodView>& pods) {
    for (const auto& [uid, pod] : pods)
        for (const ContainerView& container : pod.containers) {
            if (container.restarts == 0 || !container.last_terminated) continue;
            text += fmt::format("  pod {}, container {}: {} restart{}, the last because it {}\n",
                                pod.name, container.name, container.restarts,
                                container.restarts == 1 ? "" : "s",
                                describe(*container.last_terminated));
        }
}

struct Known {
    RunHistory history;
    std::map<std::string, PodView> pods;
};

Known known_of(const std::vector<kube::ObjectPtr>& pods,
               const std::vector<kube::ObjectPtr>& events) {
    Known known;
    std::vector<PodView> views;
    for (const kube::ObjectPtr& object : pods)
        if (auto view = pod_view(*object)) views.push_back(*std::move(view));
    std::ranges::sort(views, {}, &PodView::name);
    for (const PodView& view : views) {
        known.history.pod_changed(nullptr, &view);
        known.pods.insert_or_assign(view.uid, view);
    }
    for (const kube::ObjectPtr& object : events)
        if (const auto view = event_view(*object)) known.history.event_changed(*view);
    return known;
}

/// Replicas of all types together; 0 of a kind that is not known here.
int wanted_pods(const json::object& job) {
    const jobs::JobKind* const kind =
        jobs::find_kind(kube::string_at(job, "apiVersion"), kube::string_at(job, "kind"));
    int wanted = 0;
    if (kind == nullptr) return wanted;
    for (const auto& [type, replica] : kube::child(kube::child(job, "spec"), kind->replicas_field))
        if (const json::object* fields = replica.if_object())
            wanted += static_cast<int>(kube::int_at(*fields, "replicas").value_or(1));
    return wanted;
}

std::string why_job(const json::value& object, const JobView& job, const Known& known) {
    std::string text;
    if (job.finished()) {
        Verdict verdict = known.history.verdict(job);
        verdict.seconds = seconds_of(object.get_object());
        add(text, tell_verdict(verdict, {}));
        return text;
    }
    text = fmt::format("{} {}/{} {}\n", job.kind, job.namespace_, job.name,
                       job.true_condition("Suspended") != nullptr ? "is suspended"
                       : job.counts() == CountsView{}             ? "has not started"
                                                                  : tell_progress(job));
    const auto wait = what_it_waits_for({.job = &job,
                                         .pods = known.pods,
                                         .wanted = wanted_pods(object.get_object()),
                                         .job_warning = known.history.warning_about(job.uid)});
    if (wait) text += "  it waits: " + tell_wait(*wait) + "\n";
    if (const ConditionView* incomplete = job.true_condition("Incomplete"))
        text += "  it is incomplete: " + incomplete->message + "\n";
    if (const auto loop = known.history.crash_loop(3))
        text += fmt::format("  pod {}, container {} {}, {} times in a row\n", loop->pod,
                            loop->container, describe(loop->end), loop->times);
    add_restarts(text, known.pods);
    if (const std::string warning = known.history.warning_about(job.uid); !warning.empty() && !wait)
        text += "  last warning: " + warning + "\n";
    return text;
}

}  // namespace

std::string why_text(const RunObjects& objects) {
    std::string text;
    for (const kube::ObjectPtr& object : objects.jobs) {
        const auto job = job_view(*object);
        if (!job) continue;
        text += why_job(*object, *job, known_of(objects.pods_of(*object), objects.events));
    }
    for (const kube::ObjectPtr& object : objects.pods) {
        const auto pod = pod_view(*object);
        if (!pod || !pod->owner_uid.empty()) continue;
        const Known known = known_of({object}, objects.events);
        if (pod->finished()) {
            add(text, tell_verdict(known.history.verdict(*pod), {}));
            continue;
        }
        text += fmt::format("Pod {}/{} is {}\n", pod->namespace_, pod->name, pod->phase);
        if (!pod->not_scheduled.empty()) text += "  it waits: " + pod->not_scheduled + "\n";
        add_restarts(text, known.pods);
    }
    return text;
}

}  // namespace muster::cli
