#include "jobs/internal/pod_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <filesystem>
#include <map>
#include <set>

#include "jobs/internal/text.h"
#include "kube/objects/codec.h"
#include "kube/values/field_path.h"
#include "kube/values/name_syntax.h"
#include "kube/values/quantity.h"

namespace muster::jobs {
namespace {

using kube::child_path;
using kube::item_path;

class TemplateRules {
  public:
    TemplateRules(const JobKind& kind, const ReplicaType& type,
                  const kube::PodTemplateSpec& pod_template, const std::string& path)
        : kind_(kind),
          type_(type),
          template_(pod_template),
          template_path_(path + ".template"),
          spec_path_(template_path_ + ".spec") {}

    std::vector<Cause> check() && {
        check_labels();
        check_volumes();
        check_containers(template_.spec.init_containers, spec_path_ + ".initContainers");
        check_containers(template_.spec.containers, spec_path_ + ".containers");
        check_mandatory_container();
        check_what_will_be_sent();
        return std::move(causes_);
    }

  private:
    void add(Cause cause) { causes_.push_back(std::move(cause)); }

    void check_labels() {
        const std::string path = template_path_ + ".metadata.labels";
        for (const auto& [key, value] : template_.metadata.labels) {
            if (std::string problem = kube::label_key_problem(key); !problem.empty())
                add(invalid(child_path(path, key),
                            fmt::format("\"{}\" is not a label key: {}", key, problem)));
            if (std::string problem = kube::label_value_problem(value); !problem.empty())
                add(invalid(child_path(path, key),
                            fmt::format("\"{}\" is not a label value: {}; other text goes into an "
                                        "annotation",
                                        value, problem)));
        }
    }

    void check_volumes() {
        const std::string path = spec_path_ + ".volumes";
        for (std::size_t i = 0; i < template_.spec.volumes.size(); ++i) {
            const kube::Volume& volume = template_.spec.volumes[i];
            const std::string field = item_path(path, i) + ".name";
            if (volume.name.empty())
                add(required(field, "a volume needs a name"));
            else if (!kube::is_dns1123_label(volume.name))
                add(bad_label(field, "volume", volume.name));
            else if (!volumes_.insert(volume.name).second)
                add(duplicate(field, fmt::format("another volume is named \"{}\"", volume.name)));
            if (volume.empty_dir && !volume.empty_dir->size_limit.is_null())
                quantity(volume.empty_dir->size_limit, item_path(path, i) + ".emptyDir.sizeLimit");
        }
    }

    void check_containers(const std::vector<kube::Container>& containers, const std::string& path) {
        for (std::size_t i = 0; i < containers.size(); ++i) {
            const kube::Container& container = containers[i];
            const std::string here = item_path(path, i);
            if (container.name.empty())
                add(required(here + ".name", "a container needs a name"));
            else if (!kube::is_dns1123_label(container.name))
                add(bad_label(here + ".name", "container", container.name));
            else if (!container_names_.insert(container.name).second)
                add(duplicate(
                    here + ".name",
                    fmt::format("another container of this pod is named \"{}\"", container.name)));
            if (container.image.empty() && !gets_image(container))
                add(required(here + ".image", "a container needs an image"));
            check_ports(container, here);
            check_env(container, here);
            check_mounts(container, here);
            check_resources(container.resources, here + ".resources");
        }
    }

    /// Whether the kind says which image it is.
    bool gets_image(const kube::Container& container) const {
        return type_.own_program && &container == default_container(kind_, template_.spec);
    }

    static Cause bad_label(const std::string& field, std::string_view what,
                           const std::string& name) {
        return invalid(field, fmt::format("\"{}\" is no {} name: it takes at most 63 lower-case "
                                          "letters, digits and '-', with a letter or digit at both "
                                          "ends",
                                          name, what));
    }

    void check_ports(const kube::Container& container, const std::string& path) {
        std::set<std::string> names;
        for (std::size_t i = 0; i < container.ports.size(); ++i) {
            const kube::ContainerPort& port = container.ports[i];
            const std::string here = item_path(path + ".ports", i);
            if (port.container_port < 1 || port.container_port > 65535)
                add(invalid(
                    here + ".containerPort",
                    fmt::format("must be between 1 and 65535, got {}", port.container_port)));
            if (port.name.empty()) continue;
            if (!kube::is_port_name(port.name))
                add(invalid(here + ".name",
                            fmt::format("\"{}\" is not a port name: it takes at most 15 lower-case "
                                        "letters, digits and single '-', a letter among them",
                                        port.name)));
            if (!names.insert(port.name).second)
                add(duplicate(here + ".name", fmt::format("another port of this container is named "
                                                          "\"{}\"",
                                                          port.name)));
        }
    }

    void check_env(const kube::Container& container, const std::string& path) {
        for (std::size_t i = 0; i < container.env.size(); ++i) {
            const kube::EnvVar& variable = container.env[i];
            const std::string here = item_path(path + ".env", i);
            if (variable.name.empty())
                add(required(here + ".name", "a variable needs a name"));
            else if (variable.name.find('=') != std::string::npos)
                add(invalid(here + ".name",
                            fmt::format("\"{}\" has a '='; the part after it belongs into `value`",
                                        variable.name)));
            else if (!kube::is_env_name(variable.name))
                add(invalid(here + ".name",
                            fmt::format("\"{}\" is not a variable's name: it takes printable ASCII "
                                        "characters other than '='",
                                        variable.name)));
            if (!variable.value.empty() && variable.value_from)
                add(invalid(
                    here + ".valueFrom",
                    fmt::format("{} has both a value and a valueFrom; remove one", variable.name)));
        }
    }

    void check_mounts(const kube::Container& container, const std::string& path) {
        std::map<std::string, std::size_t> paths;
        for (std::size_t i = 0; i < container.volume_mounts.size(); ++i) {
            const kube::VolumeMount& mount = container.volume_mounts[i];
            const std::string here = item_path(path + ".volumeMounts", i);
            if (mount.name.empty()) {
                add(required(here + ".name", "a mount needs the name of its volume"));
            } else if (!volumes_.contains(mount.name)) {
                const std::vector<std::string> known(volumes_.begin(), volumes_.end());
                add(not_found(
                    here + ".name",
                    fmt::format("there is no volume \"{}\"{}; add it to {}.volumes", mount.name,
                                did_you_mean(mount.name, known), spec_path_)));
            }
            if (mount.mount_path.empty()) {
                add(required(here + ".mountPath", "a mount needs a path in the container"));
                continue;
            }
            if (mount.mount_path.find(':') != std::string::npos)
                add(invalid(here + ".mountPath", "a mount path can't have a ':'"));
            // Where links lead is seen when the pod starts.
            if (std::filesystem::path("/" + mount.mount_path).lexically_normal().native() == "/")
                add(invalid(here + ".mountPath",
                            fmt::format("\"{}\" is the root of the container's files, where "
                                        "nothing can be mounted: choose a directory below it",
                                        mount.mount_path)));
            auto [first, fresh] = paths.emplace(mount.mount_path, i);
            if (!fresh)
                add(duplicate(here + ".mountPath", fmt::format("volumeMounts[{}] has the same path "
                                                               "\"{}\"",
                                                               first->second, mount.mount_path)));
        }
    }

    std::optional<kube::Quantity> quantity(const json::value& value, const std::string& field) {
        auto parsed = kube::Quantity::parse(value);
        if (!parsed) {
            add(invalid(field, fmt::format("{} is not a quantity: write a number with an optional "
                                           "unit, as \"2\", \"500m\" or \"16Gi\"",
                                           json::serialize(value))));
            return std::nullopt;
        }
        if (parsed->is_negative()) {
            add(invalid(field,
                        fmt::format("must not be negative, got {}", json::serialize(value))));
            return std::nullopt;
        }
        return *parsed;
    }

    void check_resources(const kube::ResourceRequirements& resources, const std::string& path) {
        std::map<std::string, kube::Quantity> limits;
        for (const auto& [name, value] : resources.limits)
            if (auto limit = quantity(value, child_path(path + ".limits", name)))
                limits.emplace(name, *limit);
        for (const auto& [name, value] : resources.requests) {
            const std::string field = child_path(path + ".requests", name);
            const auto request = quantity(value, field);
            const auto limit = limits.find(name);
            if (!request || limit == limits.end()) continue;
            if (*request > limit->second)
                add(invalid(field, fmt::format("the request {} is above the limit {}; raise the "
                                               "limit or lower the request",
                                               request->to_string(), limit->second.to_string())));
            else if (!kube::is_native_resource(name) && *request != limit->second)
                add(invalid(field,
                            fmt::format("must equal the limit {}, got {}: {} can't be shared",
                                        limit->second.to_string(), request->to_string(), name)));
        }
    }

    void check_mandatory_container() {
        const std::string field = spec_path_ + ".containers";
        const std::string& wanted = kind_.container_name;
        const std::vector<kube::Container>& containers = template_.spec.containers;
        if (containers.empty()) {
            add(required(field, wanted.empty() || kind_.any_container
                                    ? std::string("there are no containers; add one")
                                    : fmt::format("there are no containers; add one that is named "
                                                  "\"{}\"",
                                                  wanted)));
            return;
        }
        if (wanted.empty() || kind_.any_container) return;
        std::vector<std::string> names;
        for (const kube::Container& container : containers) {
            if (container.name.empty() || container.name == wanted) return;
            names.push_back(container.name);
        }
        add(required(field, fmt::format("no container is named \"{}\" ({} {}); the one that trains "
                                        "must have this name",
                                        wanted, names.size() == 1 ? "there is" : "there are",
                                        fmt::join(names, ", "))));
    }

    /// An empty string does not reach the API as a value: a required field with one arrives as
    /// missing, in every pod.
    void check_what_will_be_sent() {
        static const kube::Schema::Ptr schema = kube::core_schema("PodTemplateSpec");
        for (Cause& cause : kube::validate(*schema, kube::encode(template_), template_path_)) {
            if (cause.reason != "FieldValueRequired") continue;
            if (std::ranges::find(causes_, cause.field, &Cause::field) != causes_.end()) continue;
            add(required(std::move(cause.field), "must be set, and not to \"\""));
        }
    }

    const JobKind& kind_;
    const ReplicaType& type_;
    const kube::PodTemplateSpec& template_;
    std::string template_path_;
    std::string spec_path_;
    std::set<std::string> volumes_;
    std::set<std::string> container_names_;
    std::vector<Cause> causes_;
};

}  // namespace

std::vector<Cause> check_template(const JobKind& kind, const ReplicaType& type,
                                  const kube::PodTemplateSpec& pod_template,
                                  const std::string& path) {
    return TemplateRules(kind, type, pod_template, path).check();
}

}  // namespace muster::jobs
