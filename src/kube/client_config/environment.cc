#include "kube/client_config/environment.h"

namespace muster::kube {

namespace {

bool is_of(const std::string& variable, std::string_view name) {
    return variable.size() > name.size() && variable.starts_with(name) &&
           variable[name.size()] == '=';
}

}  // namespace

std::string variable_of(const std::vector<std::string>& environment, std::string_view name) {
    for (const std::string& variable : environment)
        if (is_of(variable, name)) return variable.substr(name.size() + 1);
    return {};
}

void set_variable(std::vector<std::string>& environment, std::string_view name,
                  std::string_view value) {
    std::erase_if(environment, [&](const std::string& variable) { return is_of(variable, name); });
    environment.push_back(std::string(name).append("=").append(value));
}

}  // namespace muster::kube
