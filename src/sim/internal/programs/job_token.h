#pragma once

namespace muster::sim {

/// Which all agents and masters of simulated jobs have.
inline constexpr const char* kJobToken = "secret";

}  // namespace muster::sim
