#include "apiserver/internal/types/crd.h"

#include <tuple>

#include "apiserver/internal/conversions/conversion_review.h"
#include "apiserver/internal/strategies/strategies.h"
#include "apiserver/internal/types/crd_conversion.h"
#include "apiserver/internal/types/printer_columns.h"
#include "apiserver/internal/types/selectable_fields.h"
#include "apiserver/internal/writing/metadata_rules.h"
#include "apiserver/objects/json_access.h"
#include "base/lower_case.h"
#include "kube/schema/pattern_steps.h"
#include "kube/values/equality.h"
#include "kube/values/name_syntax.h"
#include "kube/values/time.h"
#include "store/json_text.h"

namespace muster::apiserver {

namespace {

const json::object& spec_of(const json::object& crd) { return child(crd, "spec"); }

const json::object& names_of(const json::object& crd) { return child(spec_of(crd), "names"); }

const json::value* schema_of(const json::object& version) {
    const json::object* schema = object_at(version, "schema");
    return schema == nullptr ? nullptr : schema->if_contains("openAPIV3Schema");
}

std::string without_leading_dot(std::string_view path) {
    if (path.starts_with('.')) path.remove_prefix(1);
    return std::string(path);
}

void read_subresources(const json::object& version, ResourceDef& def) {
    const json::object* subresources = object_at(version, "subresources");
    if (subresources == nullptr) return;
    def.has_status = subresources->contains("status");
    if (const json::object* scale = object_at(*subresources, "scale"))
        def.scale = ScalePaths{without_leading_dot(string_at(*scale, "specReplicasPath")),
                               without_leading_dot(string_at(*scale, "statusReplicasPath")),
                               without_leading_dot(string_at(*scale, "labelSelectorPath"))};
}

void set_crd_defaults(json::object& crd) {
    json::object& spec = ensure_object(crd, "spec");
    json::object& names = ensure_object(spec, "names");
    const std::string kind(string_at(names, "kind"));
    set_default(names, "singular", json::value(lower_case(kind)));
    set_default(names, "listKind", json::value(kind + "List"));
    set_default(spec, "conversion", {{"strategy", "None"}});
    set_conversion_defaults(spec["conversion"]);
}

json::object condition(std::string_view type, std::string_view reason, std::string_view message,
                       WallTime now) {
    return {{"type", type},
            {"status", "True"},
            {"lastTransitionTime", kube::format_time(now)},
            {"reason", reason},
            {"message", message}};
}

std::string storage_version_of(const json::object& crd) {
    if (const json::array* versions = array_at(spec_of(crd), "versions"))
        for (const json::value& version : *versions)
            if (version.is_object() && bool_at(version.get_object(), "storage"))
                return std::string(string_at(version.get_object(), "name"));
    return {};
}

/// The definition serves immediately: there is no other server to agree with.
void establish(json::object& crd, WallTime now) {
    json::array conditions{condition("NamesAccepted", "NoConflicts", "no conflicts found", now),
                           condition("Established", "InitialNamesAccepted",
                                     "the initial names have been accepted", now)};
    crd["status"] = {{"acceptedNames", names_of(crd)},
                     {"conditions", std::move(conditions)},
                     {"storedVersions", json::array{storage_version_of(crd)}}};
}

void note_stored_version(json::object& next, const json::object&) {
    json::object& status = ensure_object(next, "status");
    status["acceptedNames"] = names_of(next);
    json::value& stored = status["storedVersions"];
    if (!stored.is_array()) stored.emplace_array();
    const json::value version(storage_version_of(next));
    if (std::ranges::find(stored.get_array(), version) == stored.get_array().end())
        stored.get_array().push_back(version);
}

/// The definition stays until its instances are gone.
void begin_cleanup(json::object& crd, WallTime now) {
    json::object& meta = ensure_object(crd, "metadata");
    if (!has_finalizer(crd, kCrdCleanupFinalizer)) {
        json::value& finalizers = meta["finalizers"];
        if (!finalizers.is_array()) finalizers.emplace_array();
        finalizers.get_array().emplace_back(kCrdCleanupFinalizer);
    }
    json::value& conditions = ensure_object(crd, "status")["conditions"];
    if (!conditions.is_array()) conditions.emplace_array();
    conditions.get_array().push_back(condition("Terminating", "InstanceDeletionPending",
                                               "CustomResourceDefinition marked for deletion; "
                                               "CustomResource deletion will begin soon",
                                               now));
}

void check_names(const json::object& crd, FieldErrors& field_errors) {
    const json::object& spec = spec_of(crd);
    const json::object& names = names_of(crd);
    const std::string group(string_at(spec, "group"));
    const std::string plural(string_at(names, "plural"));
    if (group.empty())
        field_errors.push_back(required("spec.group"));
    else if (!kube::is_dns1123_subdomain(group))
        field_errors.push_back(
            invalid_value("spec.group", json::value(group), kDnsSubdomainMessage));
    else if (group.find('.') == std::string::npos)
        field_errors.push_back(invalid_value("spec.group", json::value(group),
                                             "should be a domain with at least one dot"));
    const json::object* annotations = object_at(metadata_of(crd), "annotations");
    if ((group.ends_with(".k8s.io") || group.ends_with(".kubernetes.io")) &&
        (annotations == nullptr || !annotations->contains("api-approved.kubernetes.io")))
        field_errors.push_back(required("metadata.annotations[api-approved.kubernetes.io]",
                                        "protected groups must have approval annotation "
                                        "\"api-approved.kubernetes.io\", see "
                                        "https://github.com/kubernetes/enhancements/pull/1111"));
    if (const std::string name(name_of(crd)); name != plural + "." + group)
        field_errors.push_back(invalid_value("metadata.name", json::value(name),
                                             "must be spec.names.plural+\".\"+spec.group"));
    const auto check_word = [&](const char* key, bool mixed_case) {
        const std::string text(string_at(names, key));
        const std::string field = fmt::format("spec.names.{}", key);
        if (text.empty()) return field_errors.push_back(required(field));
        if (kube::is_dns1035_label(mixed_case ? lower_case(text) : text)) return;
        field_errors.push_back(
            invalid_value(field, json::value(text),
                          fmt::format("{}{}",
                                      mixed_case ? "may have mixed case, but should otherwise "
                                                   "match: "
                                                 : "",
                                      kDns1035LabelMessage)));
    };
    for (const char* key : {"shortNames", "categories"}) {
        const std::vector<std::string> words = strings_at(names, key);
        for (std::size_t i = 0; i < words.size(); ++i)
            if (!kube::is_dns1035_label(words[i]))
                field_errors.push_back(invalid_value(fmt::format("spec.names.{}[{}]", key, i),
                                                     json::value(words[i]), kDns1035LabelMessage));
    }
    check_word("plural", false);
    check_word("singular", false);
    check_word("kind", true);
    check_word("listKind", true);
    const std::string_view scope = string_at(spec, "scope");
    if (scope.empty())
        field_errors.push_back(required("spec.scope"));
    else if (scope != "Cluster" && scope != "Namespaced")
        field_errors.push_back(not_supported("spec.scope", scope, {"Cluster", "Namespaced"}));
    if (bool_at(spec, "preserveUnknownFields"))
        field_errors.push_back(
            invalid_value("spec.preserveUnknownFields", json::value(true),
                          "cannot set to true, set x-kubernetes-preserve-unknown-"
                          "fields to true in spec.versions[*].schema instead"));
}

ReadDefinition::Versions check_versions(const json::object& crd, kube::SchemaPool& parts,
                                        FieldErrors& field_errors) {
    ReadDefinition::Versions read;
    const json::array* versions = array_at(spec_of(crd), "versions");
    if (versions == nullptr || versions->empty()) {
        field_errors.push_back(required("spec.versions"));
        return read;
    }
    read.resize(versions->size());
    std::size_t storage = 0;
    std::set<std::string> names;
    for (std::size_t i = 0; i < versions->size(); ++i) {
        const json::object* version = (*versions)[i].if_object();
        if (version == nullptr) continue;
        const std::string field = fmt::format("spec.versions[{}]", i);
        const std::string name(string_at(*version, "name"));
        if (!kube::is_dns1035_label(name))
            field_errors.push_back(
                invalid_value(field + ".name", json::value(name), kDns1035LabelMessage));
        if (!names.insert(name).second)
            field_errors.push_back(invalid_value("spec.versions", json::value(name),
                                                 "must contain unique version names"));
        if (bool_at(*version, "storage")) ++storage;
        check_printer_columns(*version, field, field_errors);
        const std::string schema_field = field + ".schema.openAPIV3Schema";
        const json::value* openapi = schema_of(*version);
        if (openapi == nullptr) {
            field_errors.push_back(required(schema_field, "schemas are required"));
            continue;
        }
        FieldErrors problems;
        std::tie(read[i].schema, problems) = kube::from_openapi(*openapi, schema_field, parts);
        // What is wrong with a schema is told first: its rules would be refused for that.
        if (read[i].schema != nullptr)
            read[i].rules = SchemaRules::compile(read[i].schema, schema_field, problems);
        if (read[i].schema != nullptr)
            check_selectable_fields(*version, *read[i].schema, field, problems);
        for (Cause& problem : problems) field_errors.push_back(std::move(problem));
    }
    if (storage != 1)
        field_errors.push_back(
            invalid_value("spec.versions", json::value(storage),
                          "must have exactly one version marked as storage version"));
    return read;
}

void validate_crd_update(const json::object& next, const json::object& current,
                         FieldErrors& field_errors) {
    for (const char* path : {"spec.group", "spec.scope", "spec.names.kind", "spec.names.plural"}) {
        const json::value* before = value_at_path(current, path);
        const json::value* after = value_at_path(next, path);
        if (before != nullptr && after != nullptr && !kube::equal(*before, *after))
            field_errors.push_back(invalid_value(path, *after, "field is immutable"));
    }
}

/// What is wrong with its rules was told when the definition was written.
ReadDefinition::Version read_version(const json::object& version, ReadDefinition& read) {
    ReadDefinition::Version made;
    const json::value* openapi = schema_of(version);
    if (openapi != nullptr) made.schema = kube::from_openapi(*openapi, "", read.parts()).first;
    FieldErrors problems;
    if (made.schema != nullptr) made.rules = SchemaRules::compile(made.schema, "", problems);
    return made;
}

}  // namespace

void ReadDefinition::keep(std::string spec, Versions versions) {
    const std::scoped_lock lock(mutex_);
    // What was kept before ends with the caller, without the lock.
    std::swap(spec_, spec);
    std::swap(versions_, versions);
}

ReadDefinition::Versions ReadDefinition::of(std::string_view spec) const {
    const std::scoped_lock lock(mutex_);
    return spec_ == spec ? versions_ : Versions();
}

Strategy crd_strategy(ReadDefinition& last) {
    auto validate = [&last](const json::object& crd, FieldErrors& field_errors) {
        check_names(crd, field_errors);
        check_conversion(crd, field_errors);
        ReadDefinition::Versions read = check_versions(crd, last.parts(), field_errors);
        std::string text;
        if (const json::value* spec = crd.if_contains("spec")) store::append_json(text, *spec);
        last.keep(std::move(text), std::move(read));
    };
    return {.apply_defaults = set_crd_defaults,
            .prepare_create = establish,
            .prepare_update = note_stored_version,
            .prepare_delete = begin_cleanup,
            .validate = validate,
            .validate_update = validate_crd_update};
}

bool declares_the_same(const json::object& crd, const json::object& before) {
    const json::object& meta = metadata_of(crd);
    const json::object& meta_before = metadata_of(before);
    if (string_at(meta, "uid") != string_at(meta_before, "uid")) return false;
    // A deletion that waits for finalizers raises the generation, too.
    return int_at(meta, "generation") == int_at(meta_before, "generation") ||
           kube::equal(spec_of(crd), spec_of(before));
}

std::vector<DefPtr> definitions_of(const json::object& crd, ReadDefinition& read,
                                   std::string_view spec_text) {
    std::vector<DefPtr> defs;
    const json::object& spec = spec_of(crd);
    const json::object& names = names_of(crd);
    const std::string group(string_at(spec, "group"));
    const std::string storage_version = storage_version_of(crd);
    const json::array* versions = array_at(spec, "versions");
    if (versions == nullptr) return defs;
    const json::object* conversion = object_at(spec, "conversion");
    const auto by_webhook = conversion == nullptr ? nullptr : read_webhook_conversion(*conversion);
    const json::object* status = object_at(crd, "status");
    const bool in_several = status != nullptr && strings_at(*status, "storedVersions").size() > 1;
    const ReadDefinition::Versions kept = read.of(spec_text);
    const bool known = kept.size() == versions->size();
    for (std::size_t i = 0; i < versions->size(); ++i) {
        const json::object* version = (*versions)[i].if_object();
        // The storage version is kept even unserved: garbage collection and clean-up go through it.
        if (version == nullptr) continue;
        if (!bool_at(*version, "served") && !bool_at(*version, "storage")) continue;
        ResourceDef def;
        def.type = {group, std::string(string_at(*version, "name")),
                    std::string(string_at(names, "plural")), std::string(string_at(names, "kind")),
                    string_at(spec, "scope") != "Cluster"};
        def.list_kind = string_at(names, "listKind");
        def.singular = string_at(names, "singular");
        def.short_names = strings_at(names, "shortNames");
        def.categories = strings_at(names, "categories");
        const ReadDefinition::Version own = known ? kept[i] : read_version(*version, read);
        if (own.schema == nullptr) continue;
        def.schema = own.schema;
        def.rules = own.rules;
        def.pattern_steps = kube::most_pattern_steps(*def.schema);
        def.custom = true;
        def.served = bool_at(*version, "served");
        def.storage_version = bool_at(*version, "storage");
        def.storage_api_version = group + "/" + storage_version;
        def.webhook_conversion = by_webhook;
        def.stored_in_several = in_several;
        if (bool_at(*version, "deprecated")) {
            def.deprecation_warning = string_at(*version, "deprecationWarning");
            if (def.deprecation_warning.empty())
                def.deprecation_warning =
                    fmt::format("{} {} is deprecated", def.type.api_version(), def.type.kind);
        }
        read_subresources(*version, def);
        def.selectable_fields = selectable_fields_of(*version);
        def.printer_columns = printer_columns_of(*version);
        def.tracks_generation = true;
        def.unconditional_update = false;
        defs.push_back(std::make_shared<const ResourceDef>(std::move(def)));
    }
    return defs;
}

}  // namespace muster::apiserver
