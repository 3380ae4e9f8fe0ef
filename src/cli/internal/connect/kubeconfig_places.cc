#include "cli/internal/connect/kubeconfig_places.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/fields.h"
#include "manifest/read_files.h"

namespace muster::cli {

namespace {

std::string absolute(const std::string& path, const control_plane::Caller& caller) {
    return (std::filesystem::path(caller.working_dir) / path).lexically_normal();
}

}  // namespace

KubeconfigPlaces kubeconfig_places(const std::string& flag, const control_plane::Caller& caller) {
    if (!flag.empty()) return {.files = {absolute(flag, caller)}, .all = true, .missing = false};
    KubeconfigPlaces places{.files = {}, .all = true, .missing = true};
    const std::string list = caller.variable("KUBECONFIG");
    std::string_view rest = list;
    while (!rest.empty())
        if (const std::string_view file = take_field(rest, ':'); !file.empty())
            places.files.push_back(absolute(std::string(file), caller));
    if (!places.files.empty()) return places;
    const std::filesystem::path home = caller.home();
    places.files = {home / ".kube" / "config", home / ".muster" / "kubeconfig"};
    places.all = false;
    return places;
}

Result<std::vector<KubeconfigText>> read_kubeconfigs(const KubeconfigPlaces& places) {
    std::vector<KubeconfigText> texts;
    for (const std::string& file : places.files) {
        std::error_code failed;
        // One that can't be examined exists: continuing without it could mean another cluster.
        if (places.missing && !std::filesystem::exists(file, failed) && !failed) continue;
        Result<std::string> text = manifest::read_file(file);
        if (!text) return Error(text.error()).prefix(file);
        texts.push_back({file, *std::move(text)});
        if (!places.all) break;
    }
    if (texts.empty())
        return Error(Code::kNotFound,
                     fmt::format("there is no kubeconfig: {} {} exist; 'muster up' makes one, or "
                                 "name one with --kubeconfig",
                                 fmt::join(places.files, " and "),
                                 places.files.size() == 1 ? "does not" : "do not"));
    return texts;
}

}  // namespace muster::cli
