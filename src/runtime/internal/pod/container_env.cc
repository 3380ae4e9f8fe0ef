#include "runtime/internal/pod/container_env.h"

#include <algorithm>

#include "kube/objects/variable_references.h"
#include "runtime/internal/files/downward_api.h"
#include "runtime/internal/network/names.h"

namespace muster::runtime {

namespace {

/// Keeps the order in which keys first appear, so that `env` prints them as expected.
class Environment {
  public:
    void set(std::string_view key, std::string value) {
        auto it = values_.find(key);
        if (it != values_.end()) {
            it->second = std::move(value);
            return;
        }
        order_.emplace_back(key);
        values_.emplace(key, std::move(value));
    }
    const std::string* find(std::string_view key) const {
        auto it = values_.find(key);
        return it == values_.end() ? nullptr : &it->second;
    }
    std::vector<std::string> entries() const {
        std::vector<std::string> entries;
        entries.reserve(order_.size());
        for (const std::string& key : order_)
            entries.push_back(key + "=" + values_.find(key)->second);
        return entries;
    }

  private:
    std::vector<std::string> order_;
    std::map<std::string, std::string, std::less<>> values_;
};

/// nullopt: an optional one that does not exist.
Result<std::optional<std::string>> key_value(const kube::KeySelector& selector,
                                             const KeyValueObjects& objects, std::string_view what,
                                             std::string_view kind, const std::string& ns) {
    auto object = objects.find(selector.name);
    if (object == objects.end()) {
        if (selector.optional.value_or(false)) return std::nullopt;
        return Error(Code::kNotFound, fmt::format("{} \"{}\" not found", what, selector.name));
    }
    auto entry = object->second.find(selector.key);
    if (entry == object->second.end()) {
        if (selector.optional.value_or(false)) return std::nullopt;
        return Error(Code::kNotFound, fmt::format("couldn't find key {} in {} {}/{}", selector.key,
                                                  kind, ns, selector.name));
    }
    return std::optional(entry->second);
}

Result<std::optional<std::string>> source_value(const kube::Container& container,
                                                const kube::EnvVarSource& source,
                                                const EnvironmentInput& input) {
    const std::string& ns = input.pod.metadata.namespace_;
    if (source.field_ref) {
        TRY(std::string value, field_value(source.field_ref->field_path, input));
        return std::optional(std::move(value));
    }
    if (source.resource_field_ref) {
        TRY(std::string value, resource_value(&container, *source.resource_field_ref, input));
        return std::optional(std::move(value));
    }
    if (source.config_map_key_ref)
        return key_value(*source.config_map_key_ref, input.config_maps, "configmap", "ConfigMap",
                         ns);
    if (source.secret_key_ref)
        return key_value(*source.secret_key_ref, input.secrets, "secret", "Secret", ns);
    if (!source.rest.empty())
        return Error(Code::kUnsupported, fmt::format("valueFrom.{} is not implemented by muster",
                                                     std::string(source.rest.begin()->key())));
    return Error(Code::kInvalid, "valueFrom names no source");
}

void add_name(std::set<std::string>& to, const std::string& name) {
    if (!name.empty()) to.insert(name);
}

/// Makes the environment and the command line of one container.
class ProcessMaker {
  public:
    ProcessMaker(const kube::Container& container, const EnvironmentInput& input)
        : container_(container), input_(input) {}

    Result<ContainerProcess> make() {
        TRY_VOID(add_base());
        for (const kube::EnvFromSource& from : container_.env_from) TRY_VOID(add_all(from));
        for (const kube::EnvVar& variable : container_.env) TRY_VOID(add(variable));
        ContainerProcess process;
        for (const auto* words : {&container_.command, &container_.args}) {
            for (const std::string& word : *words) {
                TRY(std::string expanded, expand(word));
                TRY_VOID(take(expanded.size()));
                process.argv.push_back(std::move(expanded));
            }
        }
        process.environment = all_.entries();
        return process;
    }

  private:
    Result<void> add_base() {
        for (const std::string& entry : input_.base) {
            const std::size_t equals = entry.find('=');
            if (equals != std::string::npos && equals > 0)
                all_.set(std::string_view(entry).substr(0, equals), entry.substr(equals + 1));
        }
        all_.set("HOSTNAME", input_.hostname);
        return {};
    }

    Result<void> add_all(const kube::EnvFromSource& from) {
        if (from.config_map_ref)
            TRY_VOID(add_all(from, *from.config_map_ref, input_.config_maps, "configmap"));
        if (from.secret_ref) TRY_VOID(add_all(from, *from.secret_ref, input_.secrets, "secret"));
        return {};
    }
    Result<void> add_all(const kube::EnvFromSource& from, const kube::LocalReference& reference,
                         const KeyValueObjects& objects, std::string_view what) {
        const auto object = objects.find(reference.name);
        if (object == objects.end()) {
            if (reference.optional.value_or(false)) return {};
            return Error(Code::kNotFound, fmt::format("{} \"{}\" not found", what, reference.name));
        }
        for (const auto& [key, value] : object->second) TRY_VOID(set(from.prefix + key, value));
        return {};
    }

    Result<void> add(const kube::EnvVar& variable) {
        std::string value;
        if (variable.value_from) {
            TRY(std::optional<std::string> found,
                source_value(container_, *variable.value_from, input_));
            if (!found) return {};
            value = *std::move(found);
        } else {
            TRY(value, expand(variable.value));
            if (variable.name != "HOSTNAME") value = replace_names(value, input_.addresses);
        }
        return set(variable.name, std::move(value));
    }

    Result<void> set(const std::string& name, std::string value) {
        TRY_VOID(take(name.size() + value.size()));
        defined_.set(name, value);
        all_.set(name, std::move(value));
        return {};
    }

    Result<std::string> expand(std::string_view text) const {
        auto expanded = kube::expand_variables(
            text, [this](std::string_view name) { return defined_.find(name); }, left_);
        if (!expanded) return too_long();
        return *std::move(expanded);
    }

    Result<void> take(std::size_t bytes) {
        if (bytes > left_) return too_long();
        left_ -= bytes;
        return {};
    }
    Error too_long() const {
        return Error(Code::kInvalid,
                     fmt::format("the environment and the command line of container {} take more "
                                 "than {} MiB once variables are replaced; no program can be "
                                 "started with that much",
                                 container_.name, kMostProcessText >> 20));
    }

    const kube::Container& container_;
    const EnvironmentInput& input_;
    std::size_t left_ = kMostProcessText;
    Environment all_;
    /// What references see: what the manifest defines, not what the machine happens to have.
    Environment defined_;
};

}  // namespace

References references_of(const kube::Container& container) {
    References references;
    for (const kube::EnvFromSource& from : container.env_from) {
        if (from.config_map_ref) add_name(references.config_maps, from.config_map_ref->name);
        if (from.secret_ref) add_name(references.secrets, from.secret_ref->name);
    }
    for (const kube::EnvVar& variable : container.env) {
        if (!variable.value_from) continue;
        if (variable.value_from->config_map_key_ref)
            add_name(references.config_maps, variable.value_from->config_map_key_ref->name);
        if (variable.value_from->secret_key_ref)
            add_name(references.secrets, variable.value_from->secret_key_ref->name);
    }
    return references;
}

void add_server_variables(std::vector<std::string>& base, const ServerAddress& server) {
    const std::string url = fmt::format("tcp://{}:{}", server.host, server.port);
    const auto add = [&base](std::string_view name, std::string_view value) {
        base.push_back(fmt::format("KUBERNETES_{}={}", name, value));
    };
    const std::string port = fmt::format("PORT_{}_TCP", server.port);
    add("SERVICE_HOST", server.host);
    add("SERVICE_PORT", std::to_string(server.port));
    add("SERVICE_PORT_HTTPS", std::to_string(server.port));
    add("PORT", url);
    add(port, url);
    add(port + "_PROTO", "tcp");
    add(port + "_PORT", std::to_string(server.port));
    add(port + "_ADDR", server.host);
}

Result<ContainerProcess> make_process(const kube::Container& container,
                                      const EnvironmentInput& input) {
    return ProcessMaker(container, input).make();
}

}  // namespace muster::runtime
