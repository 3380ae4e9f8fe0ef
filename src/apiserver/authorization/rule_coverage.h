#pragma once

#include "apiserver/authorization/policy_rule.h"

namespace muster::apiserver {

/// A longer list of missing rights would not be read.
inline constexpr std::size_t kMostMissing = 1000;

/// The part of `wanted` that the rules `held` do not allow, as one verb on one thing each; the first
/// `most` of them, may be empty. Several rules together may allow it, but each verb on one thing
/// must be allowed by a single rule.
///
/// The work is bounded before it begins, as both may be large and come from outside: a rule that
/// stands for too many things to compare one by one is missing as a whole, unless a single rule of
/// `held` covers all of it.
PolicyRules missing_rules(const PolicyRules& held, const PolicyRules& wanted,
                          std::size_t most = kMostMissing);

/// Merges rules of one verb each on the same things.
PolicyRules compacted(const PolicyRules& rules);

}  // namespace muster::apiserver
