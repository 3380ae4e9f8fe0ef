#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace muster::manifest {

/// A position in a manifest: 1-based line and column, with the column counted in characters. Line
/// 0: nowhere.
struct Place {
    int line = 0;
    int column = 0;

    friend bool operator==(const Place&, const Place&) = default;
};

/// The positions of a value and of everything inside it, parallel to the JSON that was made from
/// it. Immutable and shared: an alias shares the nodes of its anchor.
struct SourceNode {
    struct Child {
        std::string name;  ///< the key; empty in a list
        Place key;         ///< of the key; of the value in a list
        std::shared_ptr<const SourceNode> node;
    };

    Place value;
    std::string written;  ///< of an unquoted scalar that is a number or true or false: its text
    bool list = false;
    std::vector<Child> children;
    /// The children by their names, made by the first look-up among many.
    mutable std::vector<std::uint32_t> by_name = {};
};

using SourcePtr = std::shared_ptr<const SourceNode>;

/// The target of a field path.
struct Located {
    Place key;           ///< position of its key
    Place value;         ///< position of its value
    bool exact = false;  ///< false: the field is missing, and this is its nearest ancestor
    SourcePtr node;
};

/// Follows a path in the form of validation: "spec.containers[0].env[K]", with a map's key after a
/// dot or in brackets, whether or not the key itself has dots.
Located locate(const SourcePtr& root, std::string_view path);

/// Where to show a problem with this field: at its value if there is one, else at the key of the
/// nearest ancestor.
Place place_of(const SourcePtr& root, std::string_view path);

/// Where to show an unknown or misspelled key.
Place place_of_key(const SourcePtr& root, std::string_view path);

}  // namespace muster::manifest
