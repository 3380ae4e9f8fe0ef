#pragma once

#include "apiserver/authorization/policy_rule.h"

namespace muster::apiserver {

/// Somebody who lacks so much reads no more.
inline constexpr std::size_t kMostMissing = 1000;

/// What of `wanted` the rules `held` do not allow, one verb on one thing each; the first `most` of
/// it. Empty: nothing. It is enough that several rules together allow it, but one verb on one thing
/// must be allowed by one rule.
///
/// The work is bounded before it begins, as both may be large and come from outside: a rule that
/// stands for too many things to be looked at one by one is missing as a whole, unless one rule
/// that is held covers all of it.
PolicyRules missing_rules(const PolicyRules& held, const PolicyRules& wanted,
                          std::size_t most = kMostMissing);

/// Rules of one verb each that are about the same become one.
PolicyRules compacted(const PolicyRules& rules);

}  // namespace muster::apiserver
