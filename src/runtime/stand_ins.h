#pragma once

#include <map>
#include <string>

namespace muster::runtime {

/// What pods see of a ConfigMap or a Secret that does not exist in their namespace: keys and values
/// by "NAMESPACE/NAME", or by "NAME" for all namespaces.
struct StandIns {
    using KeyValues = std::map<std::string, std::string, std::less<>>;
    using Objects = std::map<std::string, KeyValues, std::less<>>;

    Objects config_maps = {};
    Objects secrets = {};

    /// Null if there is none.
    static const KeyValues* find(const Objects& objects, const std::string& namespace_,
                                 const std::string& name) {
        auto found = objects.find(namespace_ + "/" + name);
        if (found == objects.end()) found = objects.find(name);
        return found == objects.end() ? nullptr : &found->second;
    }
};

}  // namespace muster::runtime
