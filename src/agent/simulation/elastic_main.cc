// elastic_sim FIRST COUNT: random runs of an elastic job on virtual time, one for each seed.

#include <charconv>
#include <cstdio>
#include <span>
#include <string_view>

#include "agent/simulation/elastic_run.h"
#include "base/log.h"

namespace {

std::uint64_t number(std::string_view text, std::uint64_t otherwise) {
    std::uint64_t value = otherwise;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

}  // namespace

int main(int count, char** given) {
    const std::span<char*> arguments(given, static_cast<std::size_t>(count));
    const std::uint64_t first = arguments.size() > 1 ? number(arguments[1], 0) : 0;
    const std::uint64_t runs = arguments.size() > 2 ? number(arguments[2], 1) : 1;
    muster::log::set_level(muster::log::Level::kOff);
    std::size_t worlds = 0;
    int faults = 0;
    for (std::uint64_t seed = first; seed < first + runs; ++seed) {
        const muster::agent::ElasticRun run = muster::agent::run_elastic(seed);
        worlds += run.worlds;
        faults += run.faults;
        if (runs == 1 || !run.broken.empty()) std::fputs(run.trace.c_str(), stdout);
        if (!run.broken.empty()) {
            std::printf("seed %llu: %s\nagain: elastic_sim %llu\n",
                        static_cast<unsigned long long>(seed), run.broken.c_str(),
                        static_cast<unsigned long long>(seed));
            return 1;
        }
    }
    std::printf("%llu seeds, %d faults, %zu worlds: nothing that must not happen\n",
                static_cast<unsigned long long>(runs), faults, worlds);
    return 0;
}
