#include "operator/internal/planning/states.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "operator/internal/planning/conditions.h"

namespace muster::operators {
namespace {

using enum JobState;

constexpr std::array<Transition, 18> kTransitions{{
    {kNew, kCreated, "the operator sees the job and makes its pods and services"},
    {kNew, kSuspended, "it is created suspended"},
    {kNew, kFailed, "its manifest can't be run"},
    {kCreated, kRunning, "a deciding replica runs"},
    {kCreated, kRestarting, "a replica fails, and its policy is to restart it"},
    {kCreated, kSuspended, "suspended, so all pods are deleted"},
    {kCreated, kSucceeded, "the deciding replicas are done"},
    {kCreated, kFailed,
     "a final failure, the deadline, the backoff limit, or pods that find no node"},
    {kRunning, kRestarting, "a replica fails, and its policy is to restart it"},
    {kRunning, kSuspended, "suspended, so all pods are deleted"},
    {kRunning, kSucceeded, "the deciding replicas are done"},
    {kRunning, kFailed,
     "a final failure, the deadline, the backoff limit, or pods that find no node"},
    {kRestarting, kRunning, "no failed replica is left and a deciding one runs"},
    {kRestarting, kSuspended, "suspended, so all pods are deleted"},
    {kRestarting, kSucceeded, "the deciding replicas are done"},
    {kRestarting, kFailed,
     "a final failure, the deadline, the backoff limit, or pods that find no node"},
    {kSuspended, kCreated, "resumed when its old pods are gone, with a new start time"},
    {kSuspended, kFailed,
     "its manifest was edited into one that can't be run, or its deadline is 0"},
}};

bool is_transition(JobState from, JobState to) {
    return std::ranges::any_of(kTransitions, [&](const Transition& transition) {
        return transition.from == from && transition.to == to;
    });
}

std::string_view diagram_name(JobState state) { return state == kNew ? "[*]" : name_of(state); }

}  // namespace

std::string_view name_of(JobState state) {
    switch (state) {
        case kNew:
            return "New";
        case kCreated:
            return "Created";
        case kRunning:
            return "Running";
        case kRestarting:
            return "Restarting";
        case kSuspended:
            return "Suspended";
        case kSucceeded:
            return "Succeeded";
        case kFailed:
            return "Failed";
    }
    return "";
}

JobState state_of(const jobs::JobStatus& status) {
    for (JobState state : {kSucceeded, kFailed, kSuspended, kRestarting, kRunning, kCreated})
        if (status.is(name_of(state))) return state;
    return kNew;
}

std::span<const Transition> transitions() { return kTransitions; }

bool may_follow(JobState from, JobState to) {
    if (from == to || is_transition(from, to)) return true;
    return from == kNew && to != kNew;
}

std::string states_document() {
    std::string text =
        "# The states of a job\n\n"
        "Made by `./dev docs` from the table that every plan of the operator is checked against\n"
        "(`src/operator/internal/planning/states.cc`). A job's `State` column shows its newest "
        "condition.\n\n"
        "```mermaid\nstateDiagram-v2\n";
    for (const Transition& transition : kTransitions)
        text += fmt::format("    {} --> {}: {}\n", diagram_name(transition.from),
                            diagram_name(transition.to), transition.when);
    for (JobState state : {kSucceeded, kFailed})
        text += fmt::format("    {} --> [*]\n", name_of(state));
    text += "```\n\n| From | To | When |\n|---|---|---|\n";
    for (const Transition& transition : kTransitions)
        text += fmt::format("| {} | {} | {} |\n", name_of(transition.from), name_of(transition.to),
                            transition.when);
    text +=
        "\n`Succeeded` and `Failed` exclude each other, never change, and come with "
        "`completionTime`.\nSeveral of these may be true at once; then the first in this order "
        "counts: the deciding replicas\nare done, a final failure, the deadline, the backoff "
        "limit, pods that find no node, a restart,\nrunning.\n\nAn operator that finds pods of a "
        "job without a status (another died "
        "between making them and\nwriting it) may write any state first.\n";
    return text;
}

}  // namespace muster::operators
