#include "sim/internal/programs/command_of_container.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <cstddef>
#include <string_view>
#include <utility>

#include "kube/objects/variable_references.h"
#include "sim/internal/json_view.h"

namespace muster::sim {

namespace {

/// No command of a simulated pod is longer.
constexpr std::size_t kMostBytes = std::size_t{64} << 10;

const json::array* list_at(const json::value& object, std::string_view key) {
    const json::value* const list = find_at(object, {key});
    return list == nullptr ? nullptr : list->if_array();
}

}  // namespace

launch::Variables environment_of(const json::value& container) {
    launch::Variables variables;
    if (const json::array* const list = list_at(container, "env"))
        for (const json::value& one : *list)
            variables.emplace_back(text_at(one, {"name"}), text_at(one, {"value"}));
    return variables;
}

std::vector<std::string> command_of(const json::value& container) {
    const launch::Variables variables = environment_of(container);
    const auto value_of = [&variables](std::string_view name) -> const std::string* {
        const auto found = std::ranges::find(
            variables, name, [](const auto& variable) { return std::string_view(variable.first); });
        return found == variables.end() ? nullptr : &found->second;
    };
    std::vector<std::string> words;
    for (const char* const key : {"command", "args"}) {
        const json::array* const list = list_at(container, key);
        if (list == nullptr) continue;
        for (const json::value& word : *list) {
            const std::string_view text = word.get_string();
            words.push_back(
                kube::expand_variables(text, value_of, kMostBytes).value_or(std::string(text)));
        }
    }
    return words;
}

std::vector<const json::value*> containers_of(const json::value& pod) {
    std::vector<const json::value*> found;
    const json::value* const containers = find_at(pod, {"spec", "containers"});
    if (containers == nullptr || !containers->is_array()) return found;
    for (const json::value& container : containers->get_array()) found.push_back(&container);
    return found;
}

}  // namespace muster::sim
