#include <gtest/gtest.h>

#include "base/log.h"
#include "base/test_seeds.h"
#include "sim/elastic/elastic_run.h"

namespace muster::sim::elastic::elastic_seeds_test {
namespace {

/// As many as sanitizers make bearable. More of them: ./dev test simulate, ./dev drill sim elastic.
constexpr std::uint64_t kSeeds = 200;
constexpr std::uint64_t kSlices = 5;

class Quiet {
  public:
    Quiet() { log::set_level(log::Level::kOff); }
    ~Quiet() { log::set_level(log::Level::kWarning); }
};

TEST(ElasticSeeds, NothingHappensThatMustNot) {
    const Quiet quiet;
    int faults = 0;
    for (const std::uint64_t seed : seeds_of_this_run(kSeeds, kSlices)) {
        const ElasticRun run = run_elastic(seed);
        for (const Violation& violation : run.violations)
            ADD_FAILURE() << violation.invariant << ": " << violation.what
                          << "\nreplay: ./dev drill sim elastic --seed " << seed << " --trace";
        ASSERT_FALSE(HasFailure());
        for (const auto& [kind, times] : run.faults) faults += times;
    }
    EXPECT_GT(faults, static_cast<int>(kSeeds / kSlices) * 5);
}

TEST(ElasticSeeds, EqualSeedsGiveEqualRuns) {
    const Quiet quiet;
    for (const std::uint64_t seed : {3u, 14u}) {
        const ElasticRun one = run_elastic(seed);
        const ElasticRun other = run_elastic(seed);
        EXPECT_EQ(one.lines, other.lines);
        EXPECT_EQ(one.unseed, other.unseed);
    }
}

}  // namespace
}  // namespace muster::sim::elastic::elastic_seeds_test
