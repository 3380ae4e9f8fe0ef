#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/internal/objects/api_resources.h"

namespace muster::cli {

/// Objects of one kind; no names: all of them.
struct Target {
    const ApiResource* resource = nullptr;
    std::vector<std::string> names;

    friend bool operator==(const Target&, const Target&) = default;
};

/// The targets of `pods`, `pods,services`, `pod a b` or `pod/a job/b`. Pure. They point into
/// `catalog`.
Result<std::vector<Target>> parse_object_words(const std::vector<std::string>& words,
                                               const ResourceCatalog& catalog);

}  // namespace muster::cli
