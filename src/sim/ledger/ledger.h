#pragma once

#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/time/clock.h"

namespace muster::sim {

struct Violation {
    Instant at;
    std::string invariant;  ///< one of invariant_names()
    std::string what;
};

/// The rules of a simulated world, of all its layers: what can be left out in a scenario's
/// `except`.
std::span<const std::string_view> invariant_names();

/// Who is told at once.
struct LedgerSinks {
    std::function<void(const Violation&)> violated = {};
    /// What happens without a change of the API.
    std::function<void(std::string who, std::string what)> said = {};
};

/// What was seen in a simulated world, and which of its rules were broken: one for all that look at
/// it, so that a run has one report and one trace. Thread: one loop.
class Ledger {
  public:
    /// `except`: rules that this world does not hold.
    explicit Ledger(const Clock& clock, std::vector<std::string> except = {},
                    LedgerSinks sinks = {});

    /// The rule is one of invariant_names().
    void violated(std::string_view invariant, std::string what);
    void say(std::string who, std::string what);

    const std::vector<Violation>& violations() const { return violations_; }

  private:
    const Clock& clock_;
    std::set<std::string, std::less<>> except_;
    LedgerSinks sinks_;
    std::vector<Violation> violations_;
};

}  // namespace muster::sim
