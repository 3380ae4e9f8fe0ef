#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value_from.hpp>
#include <chrono>

#include "launch/plan.h"

namespace muster::launch {
namespace {

namespace json = boost::json;

double seconds(Duration time) { return std::chrono::duration<double>(time).count(); }

json::value seconds(const std::optional<Duration>& time) {
    return time ? json::value(seconds(*time)) : json::value(nullptr);
}

template <class T>
json::value maybe(const std::optional<T>& value) {
    return value ? json::value_from(*value) : json::value(nullptr);
}

template <class List>
json::array list(const List& values) {
    json::array made;
    for (const auto& value : values) made.push_back(json::value_from(value));
    return made;
}

std::string_view to_string(Rendezvous::Where where) {
    switch (where) {
        case Rendezvous::Where::kHere:
            return "here";
        case Rendezvous::Where::kEndpoints:
            return "endpoints";
        case Rendezvous::Where::kElsewhere:
            return "elsewhere";
    }
    return "";
}

std::string_view to_string(Rendezvous::Host host) {
    switch (host) {
        case Rendezvous::Host::kByAddress:
            return "by address";
        case Rendezvous::Host::kThisNode:
            return "this node";
        case Rendezvous::Host::kOtherNode:
            return "other node";
    }
    return "";
}

std::string_view to_string(WorkerCommand::Kind kind) {
    switch (kind) {
        case WorkerCommand::Kind::kScript:
            return "script";
        case WorkerCommand::Kind::kModule:
            return "module";
        case WorkerCommand::Kind::kProgram:
            return "program";
        case WorkerCommand::Kind::kRunPath:
            return "run path";
    }
    return "";
}

std::string_view to_string(NodeCheckMode node_check) {
    switch (node_check) {
        case NodeCheckMode::kNone:
            return "none";
        case NodeCheckMode::kNodes:
            return "nodes";
        case NodeCheckMode::kLinks:
            return "links";
    }
    return "";
}

std::string_view to_string(NumaBinding binding) {
    switch (binding) {
        case NumaBinding::kNone:
            return "none";
        case NumaBinding::kNode:
            return "node";
        case NumaBinding::kSocket:
            return "socket";
        case NumaBinding::kExclusive:
            return "exclusive";
        case NumaBinding::kCoreComplex:
            return "core-complex";
    }
    return "";
}

std::string_view to_string(MemoryPolicy policy) {
    switch (policy) {
        case MemoryPolicy::kNone:
            return "none";
        case MemoryPolicy::kPreferred:
            return "preferred";
        case MemoryPolicy::kBind:
            return "bind";
    }
    return "";
}

json::object of(const Rendezvous& rendezvous) {
    json::array endpoints;
    for (const Endpoint& endpoint : rendezvous.endpoints) endpoints.emplace_back(endpoint.text());
    return {{"where", to_string(rendezvous.where)},       {"endpoints", std::move(endpoints)},
            {"host", to_string(rendezvous.host)},         {"slot", maybe(rendezvous.slot)},
            {"store_port", maybe(rendezvous.store_port)}, {"decided_by", rendezvous.decided_by}};
}

json::object of(const LaunchTimes& times) {
    return {{"join", seconds(times.join)},
            {"last_call", seconds(times.last_call)},
            {"pend", seconds(times.pend)},
            {"silence", seconds(times.silence)},
            {"stop_grace", seconds(times.stop_grace)},
            {"broken_grace", seconds(times.broken_grace)},
            {"adopt_grace", seconds(times.adopt_grace)}};
}

json::object of(const LaunchLogs& logs) {
    return {{"dir", logs.dir},
            {"redirects", logs.redirects},
            {"tee", logs.tee},
            {"out_filters", logs.out_filters},
            {"error_filters", logs.error_filters},
            {"shown_ranks", list(logs.shown_ranks)},
            {"prefix", logs.prefix},
            {"rotate_bytes", maybe(logs.rotate_bytes)},
            {"rotated_files", logs.rotated_files}};
}

json::object of(const job_protocol::PolicyOptions& policy) {
    return {{"final_exit_codes", list(policy.final_codes)},
            {"bad_node_exit_codes", list(policy.bad_node_codes)},
            {"bad_node_errors", list(policy.bad_node_errors)},
            {"give_up_after", policy.give_up_after}};
}

json::object of_budgets(const LaunchPlan& plan) {
    json::object made;
    for (std::size_t i = 0; i < plan.budgets.size(); ++i)
        made[job_protocol::to_string(static_cast<job_protocol::Charge>(i))] =
            maybe(plan.budgets[i].incidents);
    return made;
}

/// Words of a command line are bytes, and JSON strings are UTF-8: in a word that is not UTF-8,
/// non-ASCII bytes become '?'.
void make_text(json::value& value) {
    if (json::object* const object = value.if_object()) {
        for (auto& member : *object) make_text(member.value());
    } else if (json::array* const array = value.if_array()) {
        for (json::value& each : *array) make_text(each);
    } else if (json::string* const text = value.if_string()) {
        json::error_code error;
        json::parse(json::serialize(value), error);
        if (error)
            std::ranges::replace_if(
                *text, [](char c) { return static_cast<unsigned char>(c) >= 0x80; }, '?');
    }
}

json::array of(const std::vector<LaunchNotice>& notices) {
    json::array made;
    for (const LaunchNotice& notice : notices)
        made.push_back(
            json::object{{"level", notice.level == log::Level::kDebug ? "debug" : "warning"},
                         {"text", notice.text}});
    return made;
}

}  // namespace

std::string to_json(const LaunchPlan& plan) {
    json::value made = {
        {"called", to_string(plan.called)},
        {"meeting", of(plan.rendezvous)},
        {"nodes", {{"least", plan.nodes.least}, {"most", plan.nodes.most}}},
        {"node_unit", plan.node_unit},
        {"grow_at_failure", plan.grow_at_failure},
        {"local_size", plan.local_size},
        {"max_restarts", plan.max_restarts},
        {"budgets", of_budgets(plan)},
        {"policy", of(plan.policy)},
        {"times", of(plan.times)},
        {"command", {{"kind", to_string(plan.command.kind)}, {"words", list(plan.command.words)}}},
        {"logs", of(plan.logs)},
        {"tls", {{"cert", plan.tls.cert}, {"key", plan.tls.key}, {"ca", plan.tls.ca}}},
        {"token_file", plan.token_file},
        {"run_id", plan.run_id},
        {"role", plan.role},
        {"job_dir", plan.job_dir},
        {"local_addr", plan.local_addr},
        {"rack", plan.rack},
        {"signals", list(plan.signals)},
        {"virtual_local_rank", plan.virtual_local_rank},
        {"placement",
         {{"binding", to_string(plan.placement.binding)},
          {"memory", to_string(plan.placement.memory)}}},
        {"hook", plan.hook},
        {"warm", plan.warm ? json::value(list(*plan.warm)) : json::value(nullptr)},
        {"precheck", to_string(plan.node_check)},
        {"exclude_straggler", plan.exclude_straggler},
        {"notices", of(plan.notices)},
    };
    make_text(made);
    return json::serialize(made);
}

}  // namespace muster::launch
