#include "cli/internal/prepare/object_references.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "kube/values/json_access.h"

namespace muster::cli {

namespace {

constexpr const char* kConfigMap = "ConfigMap";
constexpr const char* kSecret = "Secret";

class Collector {
  public:
    explicit Collector(bool with_optional) : with_optional_(with_optional) {}

    void volumes(const json::object& spec, const std::string& path) {
        each(spec, "volumes", path, [this](const json::object& volume, const std::string& field) {
            files(volume, "configMap", kConfigMap, "name", field);
            files(volume, "secret", kSecret, "secretName", field);
            each(kube::child(volume, "projected"), "sources", field + ".projected",
                 [this](const json::object& source, const std::string& place) {
                     files(source, "configMap", kConfigMap, "name", place);
                     files(source, "secret", kSecret, "name", place);
                 });
        });
    }
    void variables(const json::object& container, const std::string& path) {
        each(container, "envFrom", path, [this](const json::object& all, const std::string& field) {
            whole(all, "configMapRef", kConfigMap, field);
            whole(all, "secretRef", kSecret, field);
        });
        each(container, "env", path,
             [this](const json::object& variable, const std::string& field) {
                 const json::object& from = kube::child(variable, "valueFrom");
                 one_key(from, "configMapKeyRef", kConfigMap, field + ".valueFrom");
                 one_key(from, "secretKeyRef", kSecret, field + ".valueFrom");
             });
    }
    std::vector<ObjectReference> take() { return std::move(found_); }

  private:
    template <class Visit>
    static void each(const json::object& parent, std::string_view list, const std::string& path,
                     const Visit& visit) {
        const json::array* items = kube::array_at(parent, list);
        if (items == nullptr) return;
        for (std::size_t i = 0; i < items->size(); ++i)
            if (const json::object* item = (*items)[i].if_object())
                visit(*item, fmt::format("{}.{}[{}]", path, list, i));
    }
    bool is_left_out(const json::object& source) const {
        return source.empty() || (!with_optional_ && kube::bool_at(source, "optional"));
    }
    void add(const char* kind, std::string_view name, std::string_view key, std::string field) {
        if (!name.empty())
            found_.push_back({kind, std::string(name), std::string(key), std::move(field)});
    }
    /// A volume's object, with the keys that it shows as files.
    void files(const json::object& parent, std::string_view source, const char* kind,
               std::string_view name_field, const std::string& path) {
        const json::object& object = kube::child(parent, source);
        if (is_left_out(object)) return;
        const std::string place = fmt::format("{}.{}", path, source);
        const std::string_view name = kube::string_at(object, name_field);
        add(kind, name, {}, fmt::format("{}.{}", place, name_field));
        each(object, "items", place, [&](const json::object& item, const std::string& field) {
            const std::string_view key = kube::string_at(item, "key");
            if (!key.empty()) add(kind, name, key, field + ".key");
        });
    }
    void whole(const json::object& parent, std::string_view source, const char* kind,
               const std::string& path) {
        const json::object& object = kube::child(parent, source);
        if (is_left_out(object)) return;
        add(kind, kube::string_at(object, "name"), {}, fmt::format("{}.{}.name", path, source));
    }
    void one_key(const json::object& parent, std::string_view source, const char* kind,
                 const std::string& path) {
        const json::object& object = kube::child(parent, source);
        if (is_left_out(object)) return;
        const std::string_view name = kube::string_at(object, "name");
        add(kind, name, {}, fmt::format("{}.{}.name", path, source));
        add(kind, name, kube::string_at(object, "key"), fmt::format("{}.{}.key", path, source));
    }

    const bool with_optional_;
    std::vector<ObjectReference> found_;
};

std::vector<ObjectReference> collect(const manifest::PodSpecRef& pod, bool with_optional) {
    Collector collector(with_optional);
    collector.volumes(*pod.spec, pod.path);
    for (const manifest::ContainerRef& ref : manifest::containers(pod))
        collector.variables(*ref.container, ref.path);
    return collector.take();
}

std::set<std::string> keys_of(const json::object& object) {
    std::set<std::string> keys;
    for (std::string_view field : {"data", "binaryData", "stringData"})
        for (const auto& [key, value] : kube::child(object, field)) keys.emplace(key);
    return keys;
}

}  // namespace

std::vector<ObjectReference> object_references(const manifest::PodSpecRef& pod) {
    return collect(pod, false);
}

std::vector<ObjectReference> all_object_references(const manifest::PodSpecRef& pod) {
    return collect(pod, true);
}

KnownObjects::KnownObjects(const std::vector<manifest::CheckedObject>& objects) {
    for (const manifest::CheckedObject& object : objects) {
        if (object.type == kube::types::kConfigMaps || object.type == kube::types::kSecrets)
            keys_[{object.type.kind, object.namespace_, object.name}] =
                keys_of(object.document.object.get_object());
        if (!object.job || !object.job->kind->owned_objects) continue;
        for (const jobs::OwnedObject& made : object.job->kind->owned_objects(*object.job, {}))
            keys_[{made.type.kind, object.namespace_, made.name}] = std::nullopt;
    }
}

std::optional<std::string> KnownObjects::missing(const ObjectReference& reference,
                                                 const std::string& namespace_) const {
    const auto found = keys_.find({reference.kind, namespace_, reference.name});
    if (found != keys_.end()) {
        const std::optional<std::set<std::string>>& keys = found->second;
        if (reference.key.empty() || !keys || keys->contains(reference.key)) return std::nullopt;
        return fmt::format("the {} \"{}\" has no key \"{}\"{}", reference.kind, reference.name,
                           reference.key,
                           keys->empty() ? "" : fmt::format("; it has {}", fmt::join(*keys, ", ")));
    }
    if (!reference.key.empty()) return std::nullopt;  // told where the object is named
    for (const auto& [id, keys] : keys_)
        if (std::get<0>(id) == reference.kind && std::get<2>(id) == reference.name)
            return fmt::format("the {} \"{}\" is in namespace {}, where a pod of {} can't use it",
                               reference.kind, reference.name, std::get<1>(id), namespace_);
    return fmt::format(
        "nothing makes the {0} \"{1}\" (namespace {2}): add it to the manifest, make it from files "
        "with --{3} {1}=FILE|DIR|KEY=VALUE, or write optional: true",
        reference.kind, reference.name, namespace_,
        reference.kind == kSecret ? "secret" : "config");
}

}  // namespace muster::cli
