// Each line is a word of the command line or, if it begins with '$', a variable, NAME=VALUE. The
// first byte selects the name by which the program is called. What is read must be part of the
// input; what is planned must be writable as JSON and startable.

#include <algorithm>
#include <boost/json/parse.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/fields.h"
#include "launch/environment.h"

using namespace muster;
using namespace muster::launch;

namespace {

struct Told {
    std::vector<std::string> words;
    Variables variables;
};

Told told_by(std::string_view text) {
    Told told;
    while (!text.empty()) {
        std::string_view line = take_field(text, '\n');
        if (!line.starts_with('$')) {
            told.words.emplace_back(line);
            continue;
        }
        line.remove_prefix(1);
        const std::string name(take_field(line, '='));
        told.variables.emplace_back(name, line);
    }
    return told;
}

void check_flags(const LaunchFlags& flags, const Told& told) {
    CHECK(!flags.script.empty(), "there is a script");
    CHECK(flags.arguments.size() < told.words.size() &&
              std::equal(flags.arguments.rbegin(), flags.arguments.rend(), told.words.rbegin()),
          "all behind the script is the script's own");
    CHECK(std::ranges::find(told.words, flags.script) != told.words.end(), "the script was told");
    for (const auto& [flag, given] : flags.given) {
        CHECK(given.said(), "what is given was said");
        CHECK(knows(flags.command, row_of(flag)), "the command knows its flags");
    }
}

void check_plan(const LaunchPlan& plan, const Told& told) {
    CHECK(plan.nodes.least >= 1 && plan.nodes.least <= plan.nodes.most, "some nodes");
    CHECK(plan.local_size >= 1, "some workers");
    CHECK(plan.rendezvous.where == Rendezvous::Where::kHere || !plan.rendezvous.endpoints.empty(),
          "who does not meet here meets somewhere");
    CHECK(plan.rendezvous.where != Rendezvous::Where::kHere || plan.nodes.most == 1,
          "one node meets here");
    boost::json::error_code error;
    boost::json::parse(to_json(plan), error);
    CHECK(!error, "the plan can be written down");
    const job_protocol::World world{
        .generation = {1, 1},
        .members = {{.incarnation = "i", .address = "::1", .local_size = plan.local_size}},
        .nodes = 1,
        .ranks = plan.local_size};
    const auto start = worker_start({plan, world, 0, {"::1", 1}, "/j"}, 0, told.variables);
    CHECK(!start || find_variable(start->environment, "RANK") != nullptr, "a worker has its rank");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 1) return 0;
    const Told told = told_by({reinterpret_cast<const char*>(data + 1), size - 1});
    const auto command = static_cast<LaunchCommand>(data[0] % 3);
    const auto parsed = parse_launch_flags(command, told.words, told.variables);
    CHECK(parsed || !parsed.error().message().empty(), "an error says what is wrong");
    if (!parsed || !std::holds_alternative<LaunchFlags>(*parsed)) return 0;
    const auto& flags = std::get<LaunchFlags>(*parsed);
    check_flags(flags, told);
    if (const auto plan = make_launch_plan(flags, told.variables, {.python = "python3"}))
        check_plan(*plan, told);
    return 0;
}
