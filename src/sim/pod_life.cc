#include "sim/pod_life.h"

namespace muster::sim {

namespace {

/// Numbers that follow from what they are about and from nothing that happened before.
class Draw {
  public:
    Draw(std::uint64_t seed, std::string_view about, int start) : state_(seed) {
        for (const char byte : about) {
            state_ ^= static_cast<unsigned char>(byte);
            state_ *= 0x100000001b3ULL;  // FNV-1a
        }
        state_ += 0x9e3779b97f4a7c15ULL * static_cast<std::uint64_t>(start + 1);
    }

    std::uint64_t next() {  // splitmix64
        state_ += 0x9e3779b97f4a7c15ULL;
        std::uint64_t mixed = state_;
        mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9ULL;
        mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebULL;
        return mixed ^ (mixed >> 31);
    }
    double unit() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

    Duration in(const DurationRange& range) {
        using std::chrono::milliseconds;
        const auto least = std::chrono::floor<milliseconds>(range.least);
        const auto most = std::chrono::floor<milliseconds>(range.most);
        const double offset = unit();  // drawn always, so that one range does not shift the others
        if (most <= least) return range.least;
        const auto span = static_cast<double>((most - least).count() + 1);
        return least + milliseconds(static_cast<milliseconds::rep>(offset * span));
    }

  private:
    std::uint64_t state_;
};

std::int32_t exit_code_of(const std::vector<ExitChance>& exits, double dice) {
    double all = 0;
    for (const ExitChance& exit : exits) all += exit.weight;
    double left = dice * all;
    for (const ExitChance& exit : exits) {
        if (left < exit.weight) return exit.exit_code;
        left -= exit.weight;
    }
    return 0;
}

}  // namespace

PodLife life_of(const PodBehaviour& behaviour, std::uint64_t seed, const PodIdentity& pod,
                int start) {
    Draw draw(seed, pod.uid, start);
    PodLife life;
    life.start_delay = draw.in(behaviour.start_delay);
    life.run_time = draw.in(behaviour.run_time);
    life.stop_time = draw.in(behaviour.stop_time);
    life.exit_code = exit_code_of(behaviour.exits, draw.unit());
    const double starts = draw.unit();
    const double ends = draw.unit();
    if (start == 0 && starts < behaviour.never_starts) life.start_delay = Duration::max();
    if (ends < behaviour.runs_forever) life.run_time = Duration::max();
    return life;
}

}  // namespace muster::sim
