// What this folder decides, for programs that are not written in C++.
//
//   launch_reference reference   prints docs/flags.md; run by ./dev docs
//   launch_reference answer      answers questions, one line of JSON each (tests/launch/test_launch.py):
//     {"table": true}        every flag
//     {"called": "torchrun", "arguments": [...], "variables": {...},
//      "world": {"sizes": [2, 4], "position": 1, "local_rank": 3}}
//                            the flags, the plan, and that worker; or the error

#include <algorithm>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value_to.hpp>
#include <cstdio>
#include <iostream>
#include <string>

#include "base/fields.h"
#include "launch/environment.h"

using namespace muster;
using namespace muster::launch;
namespace json = boost::json;

namespace {

json::array table() {
    json::array rows;
    for (const FlagRow& row : flag_table()) {
        json::array variables;
        std::string_view rest = row.variables;
        while (!rest.empty()) variables.emplace_back(take_field(rest, ' '));
        rows.push_back(
            json::object{{"name", row.name},
                         {"letter", row.letter == '\0' ? "" : std::string(1, row.letter)},
                         {"variables", std::move(variables)},
                         {"default", row.otherwise},
                         {"value", row.value},
                         {"switch", row.kind == FlagKind::kSwitch},
                         {"torchs", row.torchs},
                         {"dlrovers", row.dlrovers},
                         {"effective", row.status == FlagStatus::kEffective}});
    }
    return rows;
}

json::object flags_of(const LaunchFlags& flags) {
    json::object texts;
    for (const FlagRow& row : flag_table()) {
        if (row.kind == FlagKind::kSwitch)
            texts[row.name] = flags.on(row.flag);
        else
            texts[row.name] = flags.get(row.flag).text;
    }
    return {{"texts", std::move(texts)},
            {"script", flags.script},
            {"arguments", json::value_from(flags.arguments)}};
}

job_protocol::World world_of(const json::object& question) {
    job_protocol::World world{.generation = {1, 1}, .members = {}};
    int first = 0;
    for (const json::value& size : question.at("sizes").as_array()) {
        const int local_size = size.to_number<int>();
        world.members.push_back({world.nodes, "i", "127.0.0.1", local_size, first, world.nodes});
        ++world.nodes;
        first += local_size;
    }
    world.ranks = first;
    return world;
}

Result<json::object> worker_of(const LaunchPlan& plan, const json::object& question,
                               const Variables& variables) {
    const job_protocol::World world = world_of(question);
    const WorkerSetting setting{
        plan, world, question.at("position").to_number<int>(), {"127.0.0.1", 4711}, "/job"};
    TRY(const WorkerStart start,
        worker_start(setting, question.at("local_rank").to_number<int>(), variables));
    // As LocalWorkers adds it.
    json::object environment{{"TORCHELASTIC_ERROR_FILE", "/error.json"}};
    for (const auto& [name, text] : start.environment) environment[name] = text;
    return json::object{{"command", json::value_from(start.command)},
                        {"environment", std::move(environment)}};
}

Result<json::object> answer(const json::object& question) {
    Variables variables;
    for (const auto& [name, text] : question.at("variables").as_object())
        variables.emplace_back(name, text.as_string());
    TRY(auto parsed,
        parse_launch_flags(launch_command(question.at("called").as_string()),
                           json::value_to<std::vector<std::string>>(question.at("arguments")),
                           variables));
    if (std::holds_alternative<LaunchPrint>(parsed)) return json::object{{"print", true}};
    const auto& flags = std::get<LaunchFlags>(parsed);
    TRY(const LaunchPlan plan,
        make_launch_plan(flags, variables,
                         {.devices = {.cpus = 2}, .python = "python3", .fresh_id = "fresh"}));
    json::object said = flags_of(flags);
    said["plan"] = json::parse(to_json(plan));
    if (const json::value* world = question.if_contains("world")) {
        TRY(said["worker"], worker_of(plan, world->as_object(), variables));
    }
    return said;
}

}  // namespace

int main(int count, char** words) {
    const std::string_view mode = count == 2 ? words[1] : "";
    if (mode == "reference") {
        const std::string text = flag_reference();
        return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() ? 0 : 1;
    }
    if (mode != "answer") {
        std::fputs("launch_reference reference | answer\n", stderr);
        return 2;
    }
    for (std::string line; std::getline(std::cin, line);) {
        const json::value question = json::parse(line);
        if (question.as_object().contains("table")) {
            std::cout << json::serialize(table()) << std::endl;
            continue;
        }
        const auto said = answer(question.as_object());
        std::cout << json::serialize(said ? *said : json::object{{"error", said.error().message()}})
                  << std::endl;
    }
    return 0;
}
