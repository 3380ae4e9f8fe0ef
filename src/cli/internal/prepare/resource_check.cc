#include "cli/internal/prepare/resource_check.h"

#include <fmt/format.h>

#include <set>

#include "manifest/fit.h"

namespace muster::cli {
namespace {

void check_amount(const manifest::Document& document, const control_plane::Machine& machine,
                  const std::string& field, const std::string& name, const json::value& amount,
                  std::vector<manifest::Problem>& problems) {
    const auto error = [&](std::string message) {
        problems.push_back(document.problem(manifest::Severity::kError, field, std::move(message)));
    };
    const std::optional<kube::Quantity> have = offered(machine, name);
    if (!have)
        return error(fmt::format(
            "this machine has no \"{0}\"; to run without it, use --ignore-resources {0}", name));
    const auto wanted = kube::Quantity::parse(amount);
    if (wanted && *wanted > *have)
        error(
            fmt::format("it asks for {} and this machine has {} in all; request fewer, or run "
                        "without them with --ignore-resources {}",
                        wanted->to_string(), have->to_string(), name));
}

}  // namespace

std::optional<kube::Quantity> offered(const control_plane::Machine& machine,
                                      const std::string& name) {
    const runtime::Devices devices = machine.devices();
    if (const auto found = devices.find(name); found != devices.end())
        return kube::Quantity::from_units(static_cast<std::int64_t>(found->second.size()));
    const runtime::NativeResources others = machine.other_resources();
    if (const auto found = others.find(name); found != others.end()) return found->second;
    return std::nullopt;
}

void check_resources(const manifest::Document& document, const manifest::ContainerRef& ref,
                     const control_plane::Machine& machine,
                     std::vector<manifest::Problem>& problems) {
    const json::value* resources = ref.container->if_contains("resources");
    if (resources == nullptr || !resources->is_object()) return;
    std::set<std::string> told;
    for (std::string_view part : {"limits", "requests"}) {
        const json::value* list = resources->get_object().if_contains(part);
        if (list == nullptr || !list->is_object()) continue;
        for (const auto& [name, amount] : list->get_object()) {
            if (manifest::is_fitted(name) || !told.emplace(name).second) continue;
            check_amount(document, machine,
                         fmt::format("{}.resources.{}[{}]", ref.path, part, std::string_view(name)),
                         name, amount, problems);
        }
    }
}

}  // namespace muster::cli
