// elastic_sim FIRST COUNT [NODES]: random runs of an elastic job on virtual time, one for each
// seed; with NODES of so many nodes each. A single seed is printed as it happened.

#include <charconv>
#include <cstdio>
#include <map>
#include <span>
#include <string_view>

#include "base/log.h"
#include "sim/elastic/elastic_run.h"

namespace {

std::uint64_t number(std::string_view text, std::uint64_t otherwise) {
    std::uint64_t value = otherwise;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

}  // namespace

int main(int count, char** given) {
    const std::span<char*> arguments(given, static_cast<std::size_t>(count));
    const auto argument = [&](std::size_t at, std::uint64_t otherwise) {
        return arguments.size() > at ? number(arguments[at], otherwise) : otherwise;
    };
    const std::uint64_t first = argument(1, 0);
    const std::uint64_t runs = argument(2, 1);
    muster::sim::elastic::ElasticShape shape;
    if (const auto nodes = static_cast<int>(argument(3, 0)); nodes > 0)
        shape.least_nodes = shape.most_nodes = nodes;
    muster::log::set_level(muster::log::Level::kOff);
    std::size_t worlds = 0;
    std::uint64_t broken = 0;
    std::uint64_t failed = 0;
    int faults = 0;
    std::map<std::string_view, int> of_kind;
    muster::Duration recovery = {};
    for (std::uint64_t seed = first; seed < first + runs; ++seed) {
        const muster::sim::elastic::ElasticRun run = muster::sim::elastic::run_elastic(seed, shape);
        worlds += run.worlds;
        failed += run.failed ? 1 : 0;
        recovery = std::max(recovery, run.recovery);
        for (const auto& [kind, times] : run.faults) {
            of_kind[kind] += times;
            faults += times;
        }
        if (runs == 1)
            for (const auto& [at, line] : run.lines)
                std::printf("%10.3f s  %s\n",
                            std::chrono::duration<double>(at.time_since_epoch()).count(),
                            line.c_str());
        if (run.violations.empty()) continue;
        ++broken;
        std::printf("seed %llu: %s\nreplay: elastic_sim %llu 1%s%s\n",
                    static_cast<unsigned long long>(seed), run.violations.front().what.c_str(),
                    static_cast<unsigned long long>(seed), arguments.size() > 3 ? " " : "",
                    arguments.size() > 3 ? arguments[3] : "");
    }
    for (const auto& [kind, times] : of_kind)
        std::printf("%8d %.*s\n", times, static_cast<int>(kind.size()), kind.data());
    std::printf(
        "%d faults, %zu worlds, %llu jobs failed by their budgets, %.1f s to the longest "
        "recovery\n",
        faults, worlds, static_cast<unsigned long long>(failed),
        std::chrono::duration<double>(recovery).count());
    std::printf("%llu passed, %llu failed\n", static_cast<unsigned long long>(runs - broken),
                static_cast<unsigned long long>(broken));
    return broken > 0 ? 3 : 0;
}
