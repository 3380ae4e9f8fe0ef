#pragma once

#include <string>
#include <vector>

#include "apiserver/internal/admission/policy.h"

namespace muster::apiserver {

/// What a policy says of a write, with one of its parameters. Upstream: k8s.io/apiserver v0.33,
/// pkg/admission/plugin/policy/validating, validator.go.
struct PolicyVerdict {
    struct Denial {
        std::size_t validation = 0;  ///< which of them
        std::string message;
        std::string reason;  ///< of the Status; "": Invalid
    };
    struct Annotation {
        std::string key;
        std::string value;
    };

    std::vector<Denial> denials;
    std::vector<Annotation> annotations;
    /// Annotations that failed, which denies whatever the actions of the binding are.
    std::vector<std::string> failed_annotations;
    /// It has to be evaluated again, without a limit or with more answers: nothing else counts.
    bool unfinished = false;
};

/// Pure.
PolicyVerdict evaluate_policy(const Policy& policy, const WriteInQuestion& write,
                              cel::Authorizer& authorizer, std::uint64_t at_once);

}  // namespace muster::apiserver
