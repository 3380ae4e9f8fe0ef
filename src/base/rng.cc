#include "base/rng.h"

#include <fmt/compile.h>

#include "base/check.h"

namespace muster {

Rng Rng::from_system() {
    std::random_device device;
    return Rng((static_cast<std::uint64_t>(device()) << 32) | device());
}

std::uint64_t Rng::below(std::uint64_t bound) {
    CHECK(bound > 0, "an empty range has no numbers");
    // Rejection keeps it uniform; the standard distributions differ between libraries, and a seed
    // must give the same run everywhere.
    const std::uint64_t limit = UINT64_MAX - UINT64_MAX % bound;
    for (;;) {
        const std::uint64_t drawn = next();
        if (drawn < limit) return drawn % bound;
    }
}

double Rng::unit() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

std::string Rng::uuid() {
    const std::uint64_t high = (next() & ~0xf000ULL) | 0x4000ULL;
    const std::uint64_t low = (next() & ~(0xc0ULL << 56)) | (0x80ULL << 56);
    return fmt::format(FMT_COMPILE("{:08x}-{:04x}-{:04x}-{:04x}-{:012x}"), high >> 32,
                       (high >> 16) & 0xffff, high & 0xffff, low >> 48, low & 0xffffffffffffULL);
}

}  // namespace muster
