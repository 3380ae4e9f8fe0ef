#include "manifest/adjust.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <set>

#include "base/lower_case.h"
#include "base/parse_number.h"
#include "kube/objects/pod.h"
#include "kube/values/json_access.h"
#include "manifest/known_kinds.h"
#include "manifest/literal_text.h"
#include "manifest/pod_specs.h"
#include "manifest/yaml/yaml_document.h"

namespace muster::manifest {

namespace {

struct Segment {
    std::string name;
    bool bracketed = false;
};

/// "spec.list[0].labels[a.b/c]", or the same with "a\.b". Empty for a malformed path.
std::vector<Segment> split_path(std::string_view path) {
    std::vector<Segment> segments;
    std::string name;
    bool after_bracket = false;
    for (std::size_t i = 0; i < path.size(); ++i) {
        char c = path[i];
        if (c == '\\' && i + 1 < path.size()) {
            name += path[++i];
        } else if (c == '.' || c == '[') {
            if (name.empty() && !after_bracket) return {};
            if (!name.empty()) segments.push_back({std::exchange(name, {}), false});
            after_bracket = false;
            if (c == '.') continue;
            std::size_t close = path.find(']', i);
            if (close == std::string_view::npos || close == i + 1) return {};
            segments.push_back({std::string(path.substr(i + 1, close - i - 1)), true});
            i = close;
            after_bracket = true;
        } else {
            if (after_bracket) return {};
            name += c;
        }
    }
    if (!name.empty())
        segments.push_back({std::move(name), false});
    else if (!after_bracket)
        return {};
    return segments;
}

std::string join_path(const std::vector<Segment>& segments) {
    std::string path;
    for (const Segment& segment : segments) {
        if (segment.bracketed) {
            path += '[' + segment.name + ']';
        } else {
            if (!path.empty()) path += '.';
            path += segment.name;
        }
    }
    return path;
}

/// The slot that the path names, created if it is missing; a reason if that is impossible.
Result<json::value*> slot_at(json::value& root, const std::vector<Segment>& segments) {
    json::value* at = &root;
    std::string walked;
    for (const Segment& segment : segments) {
        if (at->is_array()) {
            auto index = parse_number<std::size_t>(segment.name);
            json::array& list = at->get_array();
            // One past the end appends.
            if (!index || *index > list.size())
                return Error(Code::kInvalid,
                             fmt::format("{} is a list of {}; \"{}\" is not an index of it", walked,
                                         list.size(), segment.name));
            if (*index == list.size()) list.emplace_back(nullptr);
            at = &list[*index];
        } else {
            if (at->is_null()) *at = json::object();
            if (!at->is_object())
                return Error(Code::kInvalid,
                             fmt::format("{} is not a map, so it has no \"{}\"",
                                         walked.empty() ? "the object" : walked, segment.name));
            at = &at->get_object()[segment.name];
        }
        if (!walked.empty() && !segment.bracketed) walked += '.';
        walked += segment.bracketed ? '[' + segment.name + ']' : segment.name;
    }
    return at;
}

Result<json::value> typed_value(const std::string& text) {
    LineIndex lines(text);
    YamlDocument parsed = parse_yaml_document(text, 0, lines);
    if (!parsed.problems.empty()) return Error(Code::kInvalid, parsed.problems.front().message);
    return parsed.value;
}

/// Whether the schema wants a string: `--set spec.nprocPerNode=2` then means "2", which a shell
/// user could hardly quote twice.
bool wants_text(const kube::Schema* schema, const std::vector<Segment>& segments) {
    for (const Segment& segment : segments) {
        if (schema == nullptr) return false;
        if (const kube::Schema* field = schema->property(segment.name))
            schema = field;
        else
            schema = schema->type == kube::Schema::Type::kArray ? schema->items.get()
                                                                : schema->additional.get();
    }
    return schema != nullptr && schema->type == kube::Schema::Type::kString;
}

const KnownKind* kind_of(Document& document) {
    const json::object* root = document.object.if_object();
    if (root == nullptr) return nullptr;
    return look_up(kube::string_at(*root, "apiVersion"), kube::string_at(*root, "kind")).known;
}

class Adjuster {
  public:
    Adjuster(std::vector<Document>& documents, std::vector<Problem>& problems)
        : documents_(documents), problems_(problems) {}

    void set_namespace(const std::string& ns) {
        for (Document& document : documents_) {
            const KnownKind* kind = kind_of(document);
            if (kind == nullptr || !kind->type.namespaced) continue;
            json::value& metadata = document.object.get_object()["metadata"];
            if (metadata.is_null()) metadata = json::object();
            if (!metadata.is_object()) continue;
            json::value& field = metadata.get_object()["namespace"];
            if (field.is_string() && field.get_string() != ns && !field.get_string().empty()) {
                problems_.push_back(document.problem(
                    Severity::kError, "metadata.namespace",
                    fmt::format(
                        "the manifest says \"{}\" and --namespace says \"{}\"; change one of them",
                        std::string_view(field.get_string()), ns)));
                continue;
            }
            if (field.is_null()) mark(document, "metadata.namespace", "--namespace " + ns);
            field = ns;
        }
    }

    void set_default_namespace(const std::string& ns) {
        for (Document& document : documents_) {
            const KnownKind* kind = kind_of(document);
            if (kind == nullptr || !kind->type.namespaced) continue;
            json::value* metadata = document.object.get_object().if_contains("metadata");
            if (metadata == nullptr || !metadata->is_object()) continue;
            json::value& field = metadata->get_object()["namespace"];
            if (field.is_null() || field == "") field = ns;
        }
    }

    void set_field(const std::string& path, const std::string& text) {
        std::string flag = fmt::format("--set {}={}", path, text);
        std::vector<Segment> segments = split_path(path);
        if (segments.empty())
            return refuse(flag,
                          "this is not a field path; write it as spec.runPolicy.backoffLimit or "
                          "metadata.labels[example.com/name]");
        Result<json::value> value = typed_value(text);
        if (!value) return refuse(flag, value.error().message());
        bool any = false;
        for (Document& document : documents_) {
            const KnownKind* kind = kind_of(document);
            if (kind == nullptr || kind->job_kind == nullptr) continue;
            any = true;
            Result<json::value*> slot = slot_at(document.object, segments);
            if (!slot) return refuse(flag, slot.error().message());
            const bool as_text = (value->is_number() || value->is_bool()) &&
                                 wants_text(kind->schema.get(), segments);
            **slot = as_text ? json::value(text) : *value;
            mark(document, join_path(segments), flag);
        }
        if (!any) refuse(flag, "the manifest has no job to set it in");
    }

    void set_replicas(const std::string& type, const std::string& text) {
        std::string flag = fmt::format("--replicas {}={}", type, text);
        auto count = parse_number<std::size_t>(text);
        if (!count || *count > 1'000'000)
            return refuse(flag, "the number of replicas must be 0 or more");
        std::set<std::string> known;
        bool any = false;
        for (Document& document : documents_) {
            const KnownKind* kind = kind_of(document);
            if (kind == nullptr || kind->job_kind == nullptr) continue;
            json::object& root = document.object.get_object();
            const std::string& field = kind->job_kind->replicas_field;
            json::value* spec = root.if_contains("spec");
            json::value* specs = spec == nullptr || !spec->is_object()
                                     ? nullptr
                                     : spec->get_object().if_contains(field);
            if (specs == nullptr || !specs->is_object()) continue;
            for (auto& [key, replica] : specs->get_object()) {
                known.emplace(key);
                if (!equal_without_case(key, type) || !replica.is_object()) continue;
                any = true;
                replica.get_object()["replicas"] = static_cast<std::int64_t>(*count);
                mark(document, fmt::format("spec.{}.{}.replicas", field, std::string_view(key)),
                     flag);
            }
        }
        if (!any)
            refuse(flag, known.empty()
                             ? "the manifest has no job with replicas"
                             : fmt::format("no job has this replica type; the manifest has {}",
                                           fmt::join(known, ", ")));
    }

    void set_env(const std::string& name, const std::string& value) {
        std::string flag = fmt::format("--env {}", name);
        if (!each_container([&](Document& document, const ContainerRef& ref) {
                json::value& list = (*ref.container)["env"];
                if (list.is_null()) list = json::array();
                if (!list.is_array()) return;
                json::array& env = list.get_array();
                auto same = [&](const json::value& item) {
                    const json::value* field =
                        item.is_object() ? item.get_object().if_contains("name") : nullptr;
                    return field != nullptr && field->is_string() && field->get_string() == name;
                };
                auto it = std::ranges::find_if(env, same);
                if (it == env.end()) it = env.insert(env.end(), json::value(nullptr));
                *it = json::object{{"name", name}, {"value", value}};
                mark(document, fmt::format("{}.env[{}]", ref.path, it - env.begin()), flag);
            }))
            refuse(flag, "the manifest has no container to set it in");
    }

    void set_workdir(const std::string& dir) {
        std::string flag = "--workdir " + dir;
        if (!each_container([&](Document& document, const ContainerRef& ref) {
                (*ref.container)["workingDir"] = dir;
                mark(document, ref.path + ".workingDir", flag);
            }))
            refuse(flag, "the manifest has no container to set it in");
    }

    /// `images`: of the flags, each of which is meant for some container.
    void set_entrypoints(const kube::Entrypoints& known, const std::vector<std::string>& images) {
        kube::Entrypoints by_flag;
        for (const std::string& image : images) by_flag.add(image, {image});
        std::set<std::string> used;
        std::set<std::string> without_command;
        each_container_of_its_image([&](Document& document, const ContainerRef& ref) {
            const std::string_view image = kube::string_at(*ref.container, "image");
            without_command.emplace(image);
            const std::vector<std::string>* command = known.of(image);
            if (command == nullptr) return;
            json::array words;
            for (const std::string& word : *command) words.emplace_back(word);
            (*ref.container)["command"] = std::move(words);
            const std::vector<std::string>* flag = by_flag.of(image);
            if (flag == nullptr) return;
            used.insert(flag->front());
            mark(document, ref.path + ".command", "--entrypoint " + flag->front());
        });
        for (const std::string& image : images)
            if (!used.contains(image))
                refuse(
                    "--entrypoint " + image,
                    without_command.empty()
                        ? std::string("every container of the manifest has a command")
                        : fmt::format("no container without a command has this image; they have {}",
                                      fmt::join(without_command, ", ")));
    }

    void put_agents(const jobs::AgentWords& agent) {
        const std::string flag = "--elastic";
        bool any = false;
        for (Document& document : documents_) {
            const KnownKind* kind = kind_of(document);
            if (kind == nullptr || kind->job_kind == nullptr) continue;
            if (kind->job_kind->resource.kind != "PyTorchJob") {
                problems_.push_back(document.problem(
                    Severity::kError, "kind",
                    fmt::format("{} is for PyTorchJobs: a {} has other variables than torchrun's",
                                flag, kind->job_kind->resource.kind)));
                continue;
            }
            any = true;
            meet_at_a_worker(document);
            for (const PodSpecRef& pod : pod_specs(document))
                for (const ContainerRef& ref : containers(pod)) {
                    const json::value* name = ref.container->if_contains("name");
                    if (ref.init || name == nullptr || !name->is_string() ||
                        name->get_string() != kind->job_kind->container_name)
                        continue;
                    put_agent(document, ref, agent);
                }
        }
        if (!any) refuse(flag, "the manifest has no PyTorchJob");
    }

    void add_arguments(const std::vector<std::string>& arguments) {
        const std::string flag = fmt::format("-- {}", arguments.front());
        if (!each_program([&](Document& document, const ContainerRef& ref) {
                const json::array* command = list_of(*ref.container, "command");
                const json::array* args = list_of(*ref.container, "args");
                const bool of_shell =
                    is_shell_text(command) || (command == nullptr && is_shell_text(args));
                if (of_shell)
                    return problems_.push_back(document.problem(
                        Severity::kError, ref.path + ".command",
                        fmt::format(
                            "{}: its program is a shell's text, which would not see what is "
                            "added; write \"$@\" where it belongs, or use --env",
                            flag)));
                json::array added = args == nullptr ? json::array() : *args;
                for (const std::string& word : arguments) added.emplace_back(literal_text(word));
                (*ref.container)["args"] = std::move(added);
                mark(document, ref.path + ".args", flag);
            }))
            refuse(flag, "the manifest has no job whose program could take it");
    }

    void drop_resource(const std::string& name) {
        each_container([&](Document&, const ContainerRef& ref) {
            json::value* resources = ref.container->if_contains("resources");
            if (resources == nullptr || !resources->is_object()) return;
            for (std::string_view part : {"limits", "requests"}) {
                json::value* list = resources->get_object().if_contains(part);
                if (list != nullptr && list->is_object()) list->get_object().erase(name);
            }
        });
    }

  private:
    static const json::array* list_of(const json::object& container, std::string_view field) {
        const json::value* list = container.if_contains(field);
        return list == nullptr ? nullptr : list->if_array();
    }
    /// `sh -c TEXT`, without words behind it.
    static bool is_shell_text(const json::array* words) {
        return words != nullptr && words->size() == 3 && (*words)[1].is_string() &&
               (*words)[1].get_string().starts_with('-') && (*words)[1].get_string().ends_with('c');
    }

    /// The container of each replica that runs the job's program.
    bool each_program(const std::function<void(Document&, const ContainerRef&)>& change) {
        bool any = false;
        for (Document& document : documents_) {
            const KnownKind* kind = kind_of(document);
            if (kind == nullptr || kind->job_kind == nullptr) continue;
            for (const PodSpecRef& pod : pod_specs(document)) {
                // Workers of an MPIJob wait to be called.
                if (kind->job_kind->resource.kind == "MPIJob" && pod.replica_type != "Launcher")
                    continue;
                for (const ContainerRef& ref : containers(pod)) {
                    const bool is_it =
                        kube::string_at(*ref.container, "name") == kind->job_kind->container_name;
                    if (ref.init || !is_it) continue;
                    change(document, ref);
                    any = true;
                }
            }
        }
        return any;
    }

    bool each_container(const std::function<void(Document&, const ContainerRef&)>& change) {
        bool any = false;
        for (Document& document : documents_)
            for (const PodSpecRef& pod : pod_specs(document))
                for (const ContainerRef& ref : containers(pod)) {
                    change(document, ref);
                    any = true;
                }
        return any;
    }

    /// Calls `change` for the containers without a command, for which the image has one: that of
    /// an MPIJob's worker is the remote shell.
    void each_container_of_its_image(
        const std::function<void(Document&, const ContainerRef&)>& change) {
        for (Document& document : documents_) {
            const KnownKind* kind = kind_of(document);
            const bool mpi = kind != nullptr && kind->job_kind != nullptr &&
                             kind->job_kind->resource.kind == "MPIJob";
            for (const PodSpecRef& pod : pod_specs(document)) {
                if (mpi && pod.replica_type == "Worker") continue;
                for (const ContainerRef& ref : containers(pod))
                    if (!kube::has_words(kube::strings_at(*ref.container, "command")))
                        change(document, ref);
            }
        }
    }

    /// An agent uses no etcd: it takes the place of the server that the manifest names.
    void meet_at_a_worker(Document& document) {
        json::value* policy = nullptr;
        if (json::value* spec = document.object.get_object().if_contains("spec");
            spec != nullptr && spec->is_object())
            policy = spec->get_object().if_contains("elasticPolicy");
        if (policy == nullptr || !policy->is_object()) return;
        json::object& fields = policy->get_object();
        if (!kube::string_at(fields, "rdzvBackend").starts_with("etcd")) return;
        constexpr const char* kField = "spec.elasticPolicy.rdzvBackend";
        problems_.push_back(document.problem(
            Severity::kWarning, kField,
            "etcd is neither used nor needed with --elastic: the agents of the job meet at one of "
            "theirs, and rdzvHost and rdzvPort have no effect"));
        fields["rdzvBackend"] = "c10d";
        fields.erase("rdzvHost");
        fields.erase("rdzvPort");
        mark(document, kField, "--elastic");
    }

    void put_agent(Document& document, const ContainerRef& ref, const jobs::AgentWords& agent) {
        Result<std::optional<json::array>> command = jobs::agent_command(*ref.container, agent);
        if (!command) {
            const char* const field = ref.container->contains("command") ? "command" : "args";
            problems_.push_back(
                document.problem(Severity::kError, fmt::format("{}.{}", ref.path, field),
                                 fmt::format("--elastic: {}", command.error().message())));
            return;
        }
        if (!*command) return;
        (*ref.container)["command"] = **std::move(command);
        ref.container->erase("args");
        mark(document, ref.path + ".command", "--elastic");
    }

    void mark(Document& document, std::string path, std::string flag) {
        document.overrides.emplace_back(std::move(path), std::move(flag));
    }
    void refuse(const std::string& flag, std::string message) {
        Problem problem;
        problem.source = flag;
        problem.message = std::move(message);
        problems_.push_back(std::move(problem));
    }

    std::vector<Document>& documents_;
    std::vector<Problem>& problems_;
};

}  // namespace

std::vector<Problem> adjust(std::vector<Document>& documents, const Adjustments& adjustments) {
    std::vector<Problem> problems;
    Adjuster adjuster(documents, problems);
    if (!adjustments.namespace_.empty())
        adjuster.set_namespace(adjustments.namespace_);
    else if (!adjustments.default_namespace.empty())
        adjuster.set_default_namespace(adjustments.default_namespace);
    for (const auto& [type, count] : adjustments.replicas) adjuster.set_replicas(type, count);
    for (const auto& [path, value] : adjustments.sets) adjuster.set_field(path, value);
    for (const auto& [name, value] : adjustments.env) adjuster.set_env(name, value);
    if (!adjustments.entrypoints.empty())
        adjuster.set_entrypoints(adjustments.entrypoints, adjustments.entrypoint_images);
    if (!adjustments.workdir.empty()) adjuster.set_workdir(adjustments.workdir);
    for (const std::string& name : adjustments.ignored_resources) adjuster.drop_resource(name);
    if (!adjustments.arguments.empty()) adjuster.add_arguments(adjustments.arguments);
    if (!adjustments.agent.words.empty()) adjuster.put_agents(adjustments.agent);
    return problems;
}

bool split_assignment(const std::string& text, std::pair<std::string, std::string>& out) {
    std::size_t at = text.find('=');
    if (at == std::string::npos || at == 0) return false;
    out = {text.substr(0, at), text.substr(at + 1)};
    return true;
}

}  // namespace muster::manifest
