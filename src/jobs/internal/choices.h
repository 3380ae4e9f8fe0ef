#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace muster::jobs {

// The values that a field accepts, for the schema and for the rules.

inline const std::vector<std::string>& clean_pod_policies() {
    static const std::vector<std::string> all{"None", "Running", "All"};
    return all;
}
inline const std::vector<std::string>& restart_policies() {
    static const std::vector<std::string> all{"Always", "OnFailure", "Never", "ExitCode"};
    return all;
}
/// The name of this operator in manifests: it takes the place of the training-operator.
inline constexpr std::string_view kOwnController = "kubeflow.org/training-operator";
inline const std::vector<std::string>& controllers_in_charge() {
    static const std::vector<std::string> all{std::string(kOwnController),
                                              "kueue.x-k8s.io/multikueue"};
    return all;
}

}  // namespace muster::jobs
