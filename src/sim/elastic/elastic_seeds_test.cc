#include <gtest/gtest.h>

#include "base/log.h"
#include "sim/elastic/elastic_run.h"

namespace muster::sim::elastic {
namespace {

/// As many as sanitizers make bearable. More of them: elastic_sim FIRST COUNT, ./dev test sim.
constexpr std::uint64_t kSeeds = 200;

class Quiet {
  public:
    Quiet() { log::set_level(log::Level::kOff); }
    ~Quiet() { log::set_level(log::Level::kWarning); }
};

TEST(ElasticSeeds, NothingHappensThatMustNot) {
    const Quiet quiet;
    int faults = 0;
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
        const ElasticRun run = run_elastic(seed);
        ASSERT_EQ(run.broken, "") << "elastic_sim " << seed << " 1\n" << run.trace;
        for (const auto& [kind, times] : run.faults) faults += times;
    }
    EXPECT_GT(faults, static_cast<int>(kSeeds) * 5);
}

TEST(ElasticSeeds, EqualSeedsGiveEqualRuns) {
    const Quiet quiet;
    for (const std::uint64_t seed : {3u, 14u}) {
        const ElasticRun one = run_elastic(seed);
        const ElasticRun other = run_elastic(seed);
        EXPECT_EQ(one.trace, other.trace);
        EXPECT_EQ(one.unseed, other.unseed);
    }
}

}  // namespace
}  // namespace muster::sim::elastic
