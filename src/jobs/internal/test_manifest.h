#pragma once

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "jobs/kind.h"

// Manifests for the tests of this folder.

namespace muster {

inline void PrintTo(const Cause& cause, std::ostream* out) {
    *out << cause.field << ": " << cause.reason << ": " << cause.message;
}

namespace jobs {

/// A change of a manifest: `value` (JSON) is put at `path` (keys and list positions joined by '/'),
/// making the objects on the way; an empty value removes what is there.
struct Edit {
    std::string path;
    std::string value;
};

inline void apply_edit(json::value& at, std::string_view path, const std::string& value) {
    const std::size_t slash = path.find('/');
    const std::string_view key = path.substr(0, slash);
    const bool last = slash == std::string_view::npos;
    if (at.is_array()) {
        auto& items = at.get_array();
        const auto index = static_cast<std::size_t>(std::stoul(std::string(key)));
        while (items.size() <= index) items.emplace_back(json::object());
        if (last) {
            if (value.empty())
                items.erase(items.begin() + static_cast<std::ptrdiff_t>(index));
            else
                items[index] = json::parse(value);
            return;
        }
        apply_edit(items[index], path.substr(slash + 1), value);
        return;
    }
    if (!at.is_object()) at = json::object();
    auto& fields = at.get_object();
    if (last && value.empty()) {
        fields.erase(key);
    } else if (last) {
        fields[key] = json::parse(value);
    } else {
        apply_edit(fields[key], path.substr(slash + 1), value);
    }
}

/// The job of the worked example: "demo" in "ml", one master and two workers.
inline json::value pytorch_manifest(const std::vector<Edit>& edits = {}) {
    json::value manifest = json::parse(R"({
        "apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob",
        "metadata": {"name": "demo", "namespace": "ml", "uid": "u-1"},
        "spec": {"pytorchReplicaSpecs": {
            "Master": {"replicas": 1, "template": {"spec": {"containers": [
                {"name": "pytorch", "image": "X"}]}}},
            "Worker": {"replicas": 2, "template": {"spec": {"containers": [
                {"name": "pytorch", "image": "X"}]}}}}}})");
    for (const Edit& edit : edits) apply_edit(manifest, edit.path, edit.value);
    return manifest;
}

inline const JobKind& pytorch_kind() { return *find_kind("kubeflow.org/v1", "PyTorchJob"); }

/// The manifest's job, defaulted; for manifests that are valid.
inline Job pytorch_job(const std::vector<Edit>& edits = {}) {
    return load(pytorch_kind(), pytorch_manifest(edits)).value();
}

}  // namespace jobs
}  // namespace muster
