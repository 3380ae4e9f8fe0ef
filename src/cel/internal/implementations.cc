#include "cel/internal/implementations.h"

#include <array>
#include <unordered_map>

namespace muster::cel {

Implementation find_implementation(std::string_view name) {
    static const auto table = [] {
        std::unordered_map<std::string_view, Implementation> made;
        for (const std::span<const NamedFunction> library :
             {operator_functions(), conversion_functions(), time_functions(), string_functions(),
              list_functions(), optional_functions(), regex_functions(), quantity_functions(),
              address_functions(), url_functions(), version_functions(), format_functions(),
              authorization_functions()})
            for (const NamedFunction& function : library)
                made.emplace(function.name, function.call);
        return made;
    }();
    const auto it = table.find(name);
    return it == table.end() ? nullptr : it->second;
}

std::unexpected<Failure> cost_limit_exceeded() {
    return std::unexpected(
        Failure{.text = "operation cancelled: actual cost limit exceeded", .over_limit = true});
}

}  // namespace muster::cel
