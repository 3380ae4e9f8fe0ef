#pragma once

#include <optional>
#include <string>
#include <vector>

namespace muster::cli {

/// The starts of one container in one pod.
struct PodStarts {
    std::string pod_uid;
    std::vector<int> instances;  ///< those with a log that can be read, oldest first
    int started = 0;             ///< in all
};

/// One start of a container in the pods that a replica has had one after the other.
struct Attempt {
    int number = 0;  ///< as restarts are counted: 0 is the first
    std::string pod_uid;
    int instance = 0;  ///< of the container in that pod

    friend bool operator==(const Attempt&, const Attempt&) = default;
};

struct ChosenAttempt {
    std::optional<Attempt> attempt;  ///< unset if there is no log of it
    int number = 0;                  ///< the one that was wanted; below 0 if there is none
    int total = 0;                   ///< how many have begun

    bool has_begun() const { return number >= 0 && number < total; }
};

/// Chooses one of the attempts of a replica's pods, oldest first: `number`, or without it the one
/// before the present one. While the last pod has not started its container, the present attempt
/// has not begun. Pure.
ChosenAttempt choose_attempt(const std::vector<PodStarts>& pods, std::optional<int> number);

}  // namespace muster::cli
