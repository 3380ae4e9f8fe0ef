#include "runtime/internal/pod/container_env.h"

#include <algorithm>

#include "runtime/internal/files/downward_api.h"
#include "runtime/internal/network/names.h"

namespace muster::runtime {

namespace {

void add_once(std::vector<std::string>& to, const std::string& name) {
    if (!name.empty() && std::ranges::find(to, name) == to.end()) to.push_back(name);
}

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

Result<void> add_all(Environment& environment, const kube::EnvFromSource& from,
                     const EnvironmentInput& input) {
    auto add = [&](const kube::LocalReference& reference, const KeyValueObjects& objects,
                   std::string_view what) -> Result<void> {
        auto object = objects.find(reference.name);
        if (object == objects.end()) {
            if (reference.optional.value_or(false)) return {};
            return Error(Code::kNotFound, fmt::format("{} \"{}\" not found", what, reference.name));
        }
        for (const auto& [key, value] : object->second) environment.set(from.prefix + key, value);
        return {};
    };
    if (from.config_map_ref) TRY_VOID(add(*from.config_map_ref, input.config_maps, "configmap"));
    if (from.secret_ref) TRY_VOID(add(*from.secret_ref, input.secrets, "secret"));
    return {};
}

}  // namespace

std::string expand_variables(std::string_view text,
                             const std::function<const std::string*(std::string_view)>& lookup) {
    std::string result;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] != '$' || at + 1 == text.size()) {
            result += text[at];
            continue;
        }
        ++at;
        if (text[at] == '$') {
            result += '$';
            continue;
        }
        if (text[at] != '(') {
            result += '$';
            result += text[at];
            continue;
        }
        const std::size_t end = text.find(')', at);
        if (end == text.npos) {
            result += "$(";
            continue;
        }
        const std::string_view name = text.substr(at + 1, end - at - 1);
        const std::string* value = lookup(name);
        if (value != nullptr) {
            result += *value;
        } else {
            result += "$(";
            result += name;
            result += ')';
        }
        at = end;
    }
    return result;
}

References references_of(const kube::Container& container) {
    References references;
    for (const kube::EnvFromSource& from : container.env_from) {
        if (from.config_map_ref) add_once(references.config_maps, from.config_map_ref->name);
        if (from.secret_ref) add_once(references.secrets, from.secret_ref->name);
    }
    for (const kube::EnvVar& variable : container.env) {
        if (!variable.value_from) continue;
        if (variable.value_from->config_map_key_ref)
            add_once(references.config_maps, variable.value_from->config_map_key_ref->name);
        if (variable.value_from->secret_key_ref)
            add_once(references.secrets, variable.value_from->secret_key_ref->name);
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
    Environment environment;
    // References see what the manifest defines, not what the machine happens to have.
    Environment defined;
    for (const std::string& entry : input.base) {
        const std::size_t equals = entry.find('=');
        if (equals != std::string::npos && equals > 0)
            environment.set(std::string_view(entry).substr(0, equals), entry.substr(equals + 1));
    }
    environment.set("HOSTNAME", input.hostname);
    for (const kube::EnvFromSource& from : container.env_from) {
        TRY_VOID(add_all(environment, from, input));
        TRY_VOID(add_all(defined, from, input));
    }
    auto lookup = [&defined](std::string_view name) { return defined.find(name); };
    for (const kube::EnvVar& variable : container.env) {
        std::string value;
        if (variable.value_from) {
            auto found = source_value(container, *variable.value_from, input);
            if (!found) {
                return found.error();
            }
            if (!*found) continue;
            value = **std::move(found);
        } else {
            value = expand_variables(variable.value, lookup);
            if (variable.name != "HOSTNAME") value = replace_names(value, input.addresses);
        }
        defined.set(variable.name, value);
        environment.set(variable.name, std::move(value));
    }
    ContainerProcess process;
    for (const std::string& word : container.command)
        process.argv.push_back(expand_variables(word, lookup));
    for (const std::string& word : container.args)
        process.argv.push_back(expand_variables(word, lookup));
    process.environment = environment.entries();
    return process;
}

}  // namespace muster::runtime
