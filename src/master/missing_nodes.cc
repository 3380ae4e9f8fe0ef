#include "master/missing_nodes.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace muster::master {
namespace {

/// The most slots that are listed when many are missing.
constexpr std::size_t kNamed = 16;

}  // namespace

std::string who_is_missing(const Shortage& shortage, Instant now) {
    const std::size_t named = std::min(shortage.absent.size(), kNamed);
    std::string absent;
    for (std::size_t i = 0; i < named; ++i) {
        const auto& [slot, before] = shortage.absent[i];
        absent += fmt::format("{}{}{}", absent.empty() ? "no node has slot " : ", ", slot,
                              before.empty() ? "" : fmt::format(" (it was {})", before));
    }
    if (!absent.empty()) absent += named < shortage.absent.size() ? ", ..., " : ", ";
    return fmt::format(
        "{} of at least {} nodes have joined; {}for {} s now", shortage.have, shortage.need, absent,
        std::chrono::duration_cast<std::chrono::seconds>(now - shortage.since).count());
}

}  // namespace muster::master
