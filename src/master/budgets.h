#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>

#include "base/clock.h"

namespace muster::master {

/// What a failure is charged to. Each has a budget of its own: a node that is taken away must not
/// use up what is meant for a program that crashes.
enum class Charge : std::uint8_t {
    kNothing,  ///< eviction, growth, what somebody asked for
    kWorker,   ///< the program died; --max-restarts
    kMemory,   ///< it was killed for the memory that it used
    kNode,     ///< a node broke or vanished
};
inline constexpr std::size_t kCharges = 4;
std::string_view to_string(Charge charge);

struct Budget {
    std::optional<int> incidents;        ///< none: no limit
    Duration window = Duration::zero();  ///< of calendar time in which they count; zero: for ever

    friend bool operator==(const Budget&, const Budget&) = default;
};

/// What was spent, and whether there is more. Each incident is charged once; whoever calls this
/// says what an incident is. In calendar time, since it outlives the master. Pure.
class Budgets {
  public:
    explicit Budgets(std::array<Budget, kCharges> limits) : limits_(limits) {}

    /// False, and nothing is charged: the budget is used up.
    bool spend(Charge charge, WallTime now);
    /// How many count now.
    int spent(Charge charge, WallTime now) const;
    const Budget& limit(Charge charge) const { return limits_[static_cast<std::size_t>(charge)]; }

    /// As a master's records keep it: charged at that time by an earlier master.
    void remember(Charge charge, WallTime when);

  private:
    std::array<Budget, kCharges> limits_;
    std::array<std::deque<WallTime>, kCharges> charged_;
};

}  // namespace muster::master
