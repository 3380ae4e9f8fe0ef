#pragma once

#include <string>

#include "base/result.h"
#include "cli/internal/objects/api_resources.h"

namespace muster::cli {

/// What "digits", "digits/worker-1", "pod/web" or "pytorchjob/digits/master" means. Pure.
struct PodWords {
    const ApiResource* kind = nullptr;  ///< null: it was not said
    std::string name;
    std::string replica;  ///< of a job; empty: it was not said

    friend bool operator==(const PodWords&, const PodWords&) = default;
};

/// Points into `catalog`. A word before a slash that is a kind's is read as such. kInvalid for
/// anything else than one to three words, of which none is empty.
Result<PodWords> parse_pod_words(const std::string& text, const ResourceCatalog& catalog);

}  // namespace muster::cli
