#include "base/fault.h"

#include <functional>
#include <string_view>

#include "base/check.h"

namespace muster {

namespace {
thread_local FaultPlan* g_current = nullptr;

/// The path of a file within the sources, wherever those and the build folder are: a seed must
/// choose the same sites in every checkout.
std::string_view in_sources(std::string_view file) {
    const std::size_t at = file.rfind("src/");
    return at == std::string_view::npos ? file : file.substr(at);
}
}  // namespace

FaultPlan::FaultPlan(std::uint64_t seed, double site_probability, double fire_probability)
    : seed_(seed),
      site_probability_(site_probability),
      fire_probability_(fire_probability),
      rng_(seed),
      previous_(g_current) {
    g_current = this;
}

FaultPlan::~FaultPlan() {
    CHECK(g_current == this, "fault plans end in the reverse order of their start");
    g_current = previous_;
}

FaultPlan* FaultPlan::current() { return g_current; }

bool FaultPlan::fires(const char* file, std::uint32_t line) {
    // The choice of sites depends only on the seed and the place, not on the order of passing.
    const std::uint64_t place = std::hash<std::string_view>{}(in_sources(file)) * 31 + line;
    const auto [site, is_new] = chosen_.try_emplace(place);
    if (is_new) site->second = Rng(seed_ ^ place).chance(site_probability_);
    return site->second && rng_.chance(fire_probability_);
}

}  // namespace muster
