#include "manifest/check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "apiserver/object_rules.h"
#include "base/parse_number.h"
#include "jobs/scale_plan.h"
#include "kube/objects/codec.h"
#include "kube/schema/schema.h"
#include "kube/values/json_access.h"
#include "manifest/internal/review_job.h"
#include "manifest/known_kinds.h"
#include "manifest/pod_specs.h"

namespace muster::manifest {

namespace {

/// The string at a key of an object, or null.
const json::string* text_at(const json::value& value, std::string_view key) {
    const json::object* object = value.if_object();
    const json::value* field = object == nullptr ? nullptr : object->if_contains(key);
    return field == nullptr ? nullptr : field->if_string();
}

std::string_view type_word(const json::value& value) {
    if (value.is_array()) return "a list";
    if (value.is_string()) return "a text";
    if (value.is_bool()) return "true or false";
    return "a number";
}

/// Messages of validation repeat the path, which our lines show already.
std::string without_path(std::string message, const std::string& field) {
    std::string repeated = field + " in body ";
    std::size_t at = field.empty() ? std::string::npos : message.find(repeated);
    if (at != std::string::npos) message.erase(at, repeated.size());
    return message;
}

/// Where a field of the spec stands in the run policy, into which later versions moved it; or "".
std::string place_in_run_policy(const KnownKind& known, std::string_view path) {
    static constexpr std::string_view kSpec = "spec";
    static constexpr std::string_view kRunPolicy = "runPolicy";
    const kube::Schema* spec = known.schema->property(kSpec);
    const kube::Schema* policy = spec == nullptr ? nullptr : spec->property(kRunPolicy);
    if (policy == nullptr || !path.starts_with("spec.")) return {};
    const std::string_view field = path.substr(kSpec.size() + 1);
    if (policy->property(field) == nullptr) return {};
    return fmt::format("{}.{}.{}", kSpec, kRunPolicy, field);
}

/// Advice to quote a value shows the value as it was read: 0.001 for 1e-3, true for yes. This shows
/// it as it is written.
void quote_as_written(Problem& problem, const Document& document, const std::string& field) {
    constexpr std::string_view kAdvice = "(put it in quotes: \"";
    const std::size_t at = problem.message.find(kAdvice);
    if (at == std::string::npos || problem.source != document.source) return;
    const Located place = locate(document.places, jobs::origin_of(document.origins, field));
    if (!place.exact || place.node == nullptr || place.node->written.empty()) return;
    problem.message.resize(at + kAdvice.size());
    problem.message += place.node->written + "\")";
}

/// What fills in a template's placeholder, "$NODES", "${NODES}", "<NODES>" or "{{ .nodes }}", where
/// a value is to be; "" if the text is no such thing.
std::string_view what_fills_in(std::string_view text) {
    constexpr std::size_t kLongest = 64;
    if (text.size() < 2 || text.size() > kLongest) return {};
    if (const std::size_t open = text.find("{{"); open != text.npos)
        return text.find("}}", open) != text.npos ? "helm template" : "";
    if (text.front() == '<') return text.back() == '>' ? "sed" : "";
    const char next = text[1];
    const bool named =
        next == '{' || next == '_' || (next >= 'A' && next <= 'Z') || (next >= 'a' && next <= 'z');
    return text.front() == '$' && named ? "envsubst" : "";
}

/// The value of a field as problems name it, with "[3]" in a list and "[a.b]" in a map.
const json::value* value_of(const json::value& document, std::string_view field) {
    const json::value* found = &document;
    while (found != nullptr && !field.empty()) {
        const bool bracket = field.front() == '[';
        if (bracket || field.front() == '.') field.remove_prefix(1);
        const std::size_t size = std::min(field.find_first_of(bracket ? "]" : ".["), field.size());
        const std::string_view key = field.substr(0, size);
        field.remove_prefix(std::min(size + (bracket ? 1 : 0), field.size()));
        if (const json::object* map = found->if_object()) {
            found = map->if_contains(key);
        } else {
            const json::array* list = found->if_array();
            const auto index = parse_number<std::size_t>(key);
            found = list != nullptr && index && *index < list->size() ? &(*list)[*index] : nullptr;
        }
    }
    return found;
}

/// A template that was not filled in first has the same fault in many places.
void name_placeholder(Problem& problem, const Document& document, const std::string& field) {
    const json::value* value = value_of(document.object, field);
    const json::string* text = value == nullptr ? nullptr : value->if_string();
    const std::string_view filler = text == nullptr ? "" : what_fills_in(*text);
    if (filler.empty()) return;
    problem.message += fmt::format("; this is a template: fill in {} first, for example with {}",
                                   std::string_view(*text), filler);
}

class DocumentCheck {
  public:
    DocumentCheck(const Document& document, const CheckOptions& options,
                  std::vector<Problem>& problems)
        : document_(document), options_(options), problems_(problems) {}

    std::optional<CheckedObject> run() {
        if (!document_.object.is_object()) {
            error("", fmt::format("this is {}, not an object with apiVersion and kind",
                                  type_word(document_.object)));
            return std::nullopt;
        }
        if (document_.of_directory && !document_.object.get_object().contains("kind")) {
            problems_.push_back(document_.problem(
                Severity::kNote, "", "this file is passed over: it is no object of Kubernetes"));
            return std::nullopt;
        }
        const json::string* api_version = required_text("apiVersion");
        const json::string* kind = required_text("kind");
        if (api_version == nullptr || kind == nullptr) return std::nullopt;
        Lookup found = look_up(*api_version, *kind);
        if (found.passed_over) {
            problems_.push_back(document_.problem(Severity::kNote, "kind", found.message));
            return std::nullopt;
        }
        if (!found.known) {
            error(found.kind_is_known ? "apiVersion" : "kind", found.message);
            return std::nullopt;
        }
        CheckedObject checked{
            .document = {}, .type = found.known->type, .namespace_ = {}, .name = {}, .job = {}};
        std::size_t before = problems_.size();
        check_unknown(*found.known);
        if (found.known->job_kind != nullptr)
            check_job(*found.known->job_kind, checked);
        else if (found.known->type == jobs::kScalePlans)
            check_scale_plan();
        else
            check_built_in(*found.known);
        bool good =
            std::none_of(problems_.begin() + static_cast<std::ptrdiff_t>(before), problems_.end(),
                         [](const Problem& p) { return p.severity == Severity::kError; });
        if (!good) return std::nullopt;
        const json::value& metadata = document_.object.get_object().at("metadata");
        if (const json::string* name = text_at(metadata, "name")) checked.name = *name;
        if (checked.type.namespaced) {
            const json::string* ns = text_at(metadata, "namespace");
            checked.namespace_ = ns == nullptr || ns->empty() ? "default" : std::string(*ns);
        }
        return checked;
    }

  private:
    void error(std::string field, std::string message) {
        Problem problem = document_.problem(Severity::kError, field, std::move(message));
        quote_as_written(problem, document_, field);
        if (document_.object.is_object()) name_placeholder(problem, document_, field);
        problems_.push_back(std::move(problem));
    }

    const json::string* required_text(std::string_view key) {
        const json::value* field = document_.object.get_object().if_contains(key);
        if (field == nullptr) {
            error(std::string(key), "missing; every object names its apiVersion and kind");
            return nullptr;
        }
        if (!field->is_string()) {
            error(std::string(key), "must be a text");
            return nullptr;
        }
        return field->if_string();
    }

    void check_unknown(const KnownKind& known) {
        Severity severity = options_.strict ? Severity::kError : Severity::kWarning;
        for (kube::UnknownField& unknown : kube::find_unknown(*known.schema, document_.object)) {
            std::string message = options_.strict ? "unknown field" : "unknown field, ignored";
            if (const std::string place = place_in_run_policy(known, unknown.path); !place.empty())
                message += fmt::format("; {} has it in the run policy: write {}",
                                       known.type.api_version(), place);
            else if (!unknown.nearest.empty())
                message += fmt::format("; did you mean \"{}\"?", unknown.nearest);
            problems_.push_back(
                document_.key_problem(severity, std::move(unknown.path), std::move(message)));
        }
    }

    void check_job(const jobs::JobKind& kind, CheckedObject& checked) {
        jobs::Review review = review_job(kind, document_.object, options_.platform);
        for (const Cause& cause : review.problems)
            error(cause.field, without_path(cause.message, cause.field));
        for (const Cause& cause : review.warnings)
            problems_.push_back(document_.problem(Severity::kWarning, cause.field,
                                                  without_path(cause.message, cause.field)));
        if (!review.problems.empty()) return;
        check_pods(review.job);
        checked.job = std::move(review.job);
    }

    /// What the API would refuse in the job's pods each time that the operator tries to create
    /// them.
    void check_pods(jobs::Job job) {
        job.metadata.uid = "given when it is created";
        json::error_code missing;
        const json::value* specs =
            document_.object.find_pointer("/spec/" + job.kind->replicas_field, missing);
        if (specs == nullptr || !specs->is_object()) return;
        for (const auto& entry : specs->get_object()) {
            const jobs::ReplicaType* type = type_named(*job.kind, entry.key());
            if (type == nullptr) continue;
            const Result<kube::Pod> pod = jobs::build_pod(job, {type->name, 0});
            if (!pod) continue;
            const std::string template_path = fmt::format(
                "spec.{}.{}.template.", job.kind->replicas_field, std::string_view(entry.key()));
            for (const Cause& cause :
                 apiserver::field_errors_of(kube::types::kPods, kube::encode(*pod)))
                if (is_of_template(cause.field))
                    error(template_path + cause.field, without_path(cause.message, cause.field));
        }
    }

    /// The rest of a pod's metadata is generated, not copied.
    static bool is_of_template(std::string_view field) {
        return field.starts_with("spec") || field.starts_with("metadata.labels") ||
               field.starts_with("metadata.annotations") ||
               field.starts_with("metadata.finalizers");
    }

    void check_scale_plan() {
        const jobs::ScalePlanReview review = jobs::review_scale_plan(document_.object);
        for (const Cause& cause : review.problems)
            error(cause.field, without_path(cause.message, cause.field));
        for (const Cause& cause : review.warnings)
            problems_.push_back(document_.problem(Severity::kWarning, cause.field,
                                                  without_path(cause.message, cause.field)));
    }

    void check_built_in(const KnownKind& known) {
        std::vector<Cause> causes = kube::validate(*known.schema, document_.object);
        const json::value* metadata = document_.object.get_object().if_contains("metadata");
        if (metadata == nullptr || text_at(*metadata, "name") == nullptr)
            causes.push_back(
                {"FieldValueRequired", "Required value: the object needs a name", "metadata.name"});
        if (options_.runs_here && !known.note.empty())
            problems_.push_back(
                document_.problem(Severity::kNote, "kind", std::string(known.note)));
        if (causes.empty()) causes = apiserver::field_errors_of(known.type, document_.object);
        for (const Cause& cause : causes)
            error(cause.field, without_path(cause.message, cause.field));
    }

    const Document& document_;
    const CheckOptions& options_;
    std::vector<Problem>& problems_;
};

}  // namespace

CheckResult check_documents(std::vector<Document> documents, const CheckOptions& options) {
    CheckResult result;
    using Key = std::tuple<std::string, std::string, std::string, std::string>;
    std::map<Key, Problem> seen;
    for (Document& document : documents) {
        std::optional<CheckedObject> checked =
            DocumentCheck(document, options, result.problems).run();
        if (!checked) continue;
        Key key(checked->type.qualified(), checked->namespace_, checked->name,
                options.files_apart ? document.source : std::string());
        Problem problem = document.problem(Severity::kError, "metadata.name",
                                           fmt::format("the {} \"{}\" is in the manifest twice",
                                                       checked->type.kind, checked->name));
        if (auto [it, fresh] = seen.emplace(key, problem); !fresh) {
            problem.message += fmt::format("; first at {}:{}:{}", it->second.source,
                                           it->second.place.line, it->second.place.column);
            result.problems.push_back(std::move(problem));
            continue;
        }
        checked->document = std::move(document);
        result.objects.push_back(*std::move(checked));
    }
    return result;
}

}  // namespace muster::manifest
