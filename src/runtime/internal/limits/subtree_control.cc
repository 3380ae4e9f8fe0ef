#include "runtime/internal/limits/subtree_control.h"

#include <fmt/format.h>

namespace muster::runtime {

std::string switches(const std::set<process::Controller>& controllers, char sign) {
    std::string text;
    for (const process::Controller controller : controllers)
        text += fmt::format("{}{}{}", text.empty() ? "" : " ", sign, to_string(controller));
    return text;
}

std::set<process::Controller> listed(std::string_view text) {
    std::set<process::Controller> controllers;
    while (!text.empty()) {
        const std::size_t end = text.find_first_of(" \n");
        for (const process::Controller controller : process::kControllers)
            if (text.substr(0, end) == to_string(controller)) controllers.insert(controller);
        text = end == text.npos ? std::string_view() : text.substr(end + 1);
    }
    return controllers;
}

std::set<process::Controller> without(std::set<process::Controller> all,
                                      const std::set<process::Controller>& some) {
    for (const process::Controller controller : some) all.erase(controller);
    return all;
}

}  // namespace muster::runtime
