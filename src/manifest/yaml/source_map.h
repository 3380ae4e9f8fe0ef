#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace muster::manifest {

/// Where something stands in a manifest: 1-based line and column, the column counted in characters.
/// Line 0: nowhere.
struct Place {
    int line = 0;
    int column = 0;

    friend bool operator==(const Place&, const Place&) = default;
};

/// The places of one value and of everything inside it, beside the JSON that was made from it.
/// Immutable and shared: an alias shares the nodes of its anchor.
struct SourceNode {
    struct Child {
        std::string name;  ///< the key; empty in a list
        Place key;         ///< of the key; of the value in a list
        std::shared_ptr<const SourceNode> node;
    };

    Place value;
    bool list = false;
    std::vector<Child> children;
};

using SourcePtr = std::shared_ptr<const SourceNode>;

/// What a field path leads to.
struct Located {
    Place key;           ///< where its key stands
    Place value;         ///< where its value stands
    bool exact = false;  ///< false: the field is missing, and this is its nearest ancestor
    SourcePtr node;
};

/// Follows a path as validation writes it: "spec.containers[0].env[K]", with a map's key after a
/// dot or in brackets, whether or not the key itself has dots.
Located locate(const SourcePtr& root, std::string_view path);

/// Where a problem with this field is shown: at the value where there is one, else at the key of
/// the nearest ancestor.
Place place_of(const SourcePtr& root, std::string_view path);

/// Where an unknown or misspelled key is shown.
Place place_of_key(const SourcePtr& root, std::string_view path);

}  // namespace muster::manifest
