#include <fmt/format.h>

#include "apiserver_http/internal/printing/cell_text.h"
#include "apiserver_http/internal/printing/fields.h"
#include "apiserver_http/internal/printing/printer.h"

namespace muster::apiserver_http {

namespace {

constexpr Column kBindingColumns[] = {
    kNameColumn,
    {"Role", "string", "", "The kind and the name of the role that it gives."},
    kAgeColumn,
    {"Users", "string", "", "Users that have the role.", 1},
    {"Groups", "string", "", "Groups whose members have it.", 1},
    {"ServiceAccounts", "string", "", "Service accounts that have it.", 1},
};

std::string subjects(const json::object& binding, std::string_view kind) {
    std::vector<std::string> names;
    for (const json::object* subject : objects_at(binding, "subjects")) {
        if (string_at(*subject, "kind") != kind) continue;
        const std::string_view name = string_at(*subject, "name");
        names.push_back(kind == "ServiceAccount"
                            ? fmt::format("{}/{}", string_at(*subject, "namespace"), name)
                            : std::string(name));
    }
    return joined(names, ", ");
}

json::array binding_cells(const json::object& binding, WallTime now) {
    const json::object& role = child(binding, "roleRef");
    return {name_of(binding),
            fmt::format("{}/{}", string_at(role, "kind"), string_at(role, "name")),
            age_of(binding, now),
            subjects(binding, "User"),
            subjects(binding, "Group"),
            subjects(binding, "ServiceAccount")};
}

constexpr Printer kAccessPrinters[] = {
    {"rolebindings.rbac.authorization.k8s.io", kBindingColumns, binding_cells},
    {"clusterrolebindings.rbac.authorization.k8s.io", kBindingColumns, binding_cells},
};

}  // namespace

std::span<const Printer> access_printers() { return kAccessPrinters; }

}  // namespace muster::apiserver_http
