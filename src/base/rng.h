#pragma once

#include <cstdint>
#include <random>
#include <string>

namespace muster {

/// Randomness that can be replayed. Seeded from the system in production and from the seed under
/// simulation; nothing else in the project may draw random numbers.
class Rng {
  public:
    explicit Rng(std::uint64_t seed) : engine_(seed) {}
    /// From the kernel's entropy.
    static Rng from_system();

    std::uint64_t next() { return engine_(); }
    /// Uniform in [0, bound); bound must not be 0.
    std::uint64_t below(std::uint64_t bound);
    /// Uniform in [0, 1).
    double unit();
    bool chance(double probability) { return unit() < probability; }
    /// A random (version 4) UUID in its canonical form.
    std::string uuid();

  private:
    std::mt19937_64 engine_;
};

}  // namespace muster
