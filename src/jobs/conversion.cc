#include "jobs/conversion.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/serialize.hpp>

#include "jobs/internal/conversion_data.h"
#include "jobs/internal/converter.h"
#include "jobs/internal/text.h"
#include "jobs/kind.h"
#include "kube/values/json_access.h"
#include "kube/values/read_json.h"

namespace muster::jobs {
namespace {

constexpr std::string_view kGroup = "kubeflow.org/";
/// An API server's limit for all annotations of an object.
constexpr std::size_t kMostAnnotations = 256 * 1024;

const std::vector<Converter>& converters() {
    static const std::vector<Converter> all = [] {
        std::vector<Converter> list = run_policy_converters();
        list.push_back(mpi_v1alpha1_converter());
        return list;
    }();
    return all;
}

std::string full(std::string_view version) { return std::string(kGroup) + std::string(version); }

/// One step: between an old version and the served one that it is read as, or between two served
/// ones.
struct Step {
    const Converter* converter = nullptr;  ///< null: between two served ones
    bool down = false;
    std::string from;
    std::string to;
};

const Converter* converter_of(std::string_view kind, std::string_view api_version) {
    for (const Converter& converter : converters())
        if (converter.kind == kind && full(converter.old_version) == api_version) return &converter;
    return nullptr;
}

std::vector<Step> steps_between(std::string_view kind, const std::string& from,
                                const std::string& to) {
    std::vector<Step> steps;
    if (from == to) return steps;
    const Converter* up = converter_of(kind, from);
    const Converter* down = converter_of(kind, to);
    std::string at = from;
    if (up != nullptr) {
        at = full(up->version);
        steps.push_back({up, false, from, at});
    }
    const std::string base = down == nullptr ? to : full(down->version);
    if (at != base) steps.push_back({nullptr, false, at, base});
    if (down != nullptr) steps.push_back({down, true, base, to});
    return steps;
}

/// Versions that have all fields in common: a field says in which version the job was written.
void mark(const Step& step, std::string_view kind, json::object& spec, ConversionNotes& notes) {
    const JobKind* from = find_kind(step.from, kind);
    const JobKind* to = find_kind(step.to, kind);
    if (from == nullptr || to == nullptr || from->version_field.empty()) return;
    const std::string& field = from->version_field;
    const json::value* written = spec.if_contains(field);
    if (written != nullptr && !written->is_string()) return;
    const std::string meaning =
        written == nullptr ? from->version_mark : std::string(written->get_string());
    const std::string path = "spec." + field;
    if (meaning == to->version_mark) {
        if (written == nullptr) return;
        spec.stable_erase(field);
        notes.changed(path,
                      fmt::format("is not written: \"{}\" is what {} means", meaning, step.to));
    } else if (written == nullptr) {
        spec[field] = meaning;
        notes.changed("apiVersion", fmt::format("{} is \"{}\": the conventions of {} still hold",
                                                path, meaning, step.from));
        notes.moved("apiVersion", path);
    }
}

// --- the annotation

/// Takes out of the object what was kept for each version.
json::object take_kept(json::object& object) {
    json::object* fields = kube::object_at(object, "metadata");
    json::object* annotations =
        fields == nullptr ? nullptr : kube::object_at(*fields, "annotations");
    if (annotations == nullptr) return {};
    const json::value* written = annotations->if_contains(annotations::kConvertedFrom);
    if (written == nullptr || !written->is_string()) return {};
    std::optional<json::value> kept = kube::read_json(written->get_string());
    // It was written by another program, then.
    if (!kept || !kept->is_object()) return {};
    annotations->stable_erase(annotations::kConvertedFrom);
    if (annotations->empty()) fields->stable_erase("annotations");
    if (fields->empty()) object.stable_erase("metadata");
    return std::move(kept->get_object());
}

/// The field, created if it is missing; null if it is something else.
json::object* object_in(json::object& parent, std::string_view key) {
    return parent.emplace(key, json::object()).first->value().if_object();
}

/// Removes empty metadata and annotations, since the kept data create them again and leave none
/// behind. The fact that they existed is part of the kept data.
void drop_empty(json::object& object, std::string_view key) {
    const json::value* held = object.if_contains(key);
    if (held == nullptr) return;
    const json::object* fields = held->if_object();
    if (held->is_null() || (fields != nullptr && fields->empty())) object.stable_erase(key);
}
void drop_empty_metadata(json::object& object) {
    json::value* metadata = object.if_contains("metadata");
    if (metadata == nullptr) return;
    if (json::object* fields = metadata->if_object()) drop_empty(*fields, "annotations");
    drop_empty(object, "metadata");
}

/// False if it is too large. The check refuses an object with invalid metadata, which keeps
/// nothing.
bool put_kept(const json::object& kept, json::object& object) {
    if (kept.empty()) return true;
    json::object* metadata = object_in(object, "metadata");
    json::object* annotations = metadata == nullptr ? nullptr : object_in(*metadata, "annotations");
    if (annotations == nullptr) return true;
    const std::string text = json::serialize(kept);
    (*annotations)[annotations::kConvertedFrom] = text;
    return text.size() <= kMostAnnotations;
}

// --- one step

void rewrite(const Step& step, std::string_view kind, json::object& object,
             ConversionNotes& notes) {
    object["apiVersion"] = step.to;
    json::object* spec = kube::object_at(object, "spec");
    if (spec == nullptr) return;
    if (step.converter == nullptr) return mark(step, kind, *spec, notes);
    (step.down ? step.converter->down : step.converter->up)(*spec, notes);
}

Step reversed(const Step& step) { return {step.converter, !step.down, step.to, step.from}; }

/// False after a problem was noted; the object is then partly converted.
bool take_step(const Step& step, std::string_view kind, json::object& object,
               ConversionNotes& notes) {
    json::object kept = take_kept(object);
    const json::object given = object;
    drop_empty_metadata(object);
    rewrite(step, kind, object, notes);
    if (!notes.problems.empty()) return false;
    const bool as_a_whole = step.converter != nullptr && step.converter->as_a_whole;
    if (const json::value* edits = kept.if_contains(step.to);
        edits != nullptr && edits->is_array()) {
        json::value restored = std::move(object);
        apply_conversion_data(edits->get_array(), restored, as_a_whole);
        object = std::move(restored.get_object());
    }
    kept.stable_erase(step.to);

    json::object back = object;
    drop_empty_metadata(back);
    const Step return_step = reversed(step);
    ConversionNotes unheard(return_step.from, return_step.to);
    rewrite(return_step, kind, back, unheard);
    json::array edits = conversion_data(json::value(std::move(back)), json::value(given));
    if (!edits.empty()) kept[step.from] = std::move(edits);
    if (put_kept(kept, object)) return true;
    notes.refused(
        invalid("metadata.annotations",
                fmt::format("what {} has no fields for does not fit into an annotation of "
                            "{} bytes",
                            step.to, kMostAnnotations)));
    return false;
}

}  // namespace

const std::vector<OldVersion>& old_versions() {
    static const std::vector<OldVersion> all = [] {
        std::vector<OldVersion> list;
        for (const Converter& converter : converters())
            list.push_back({.api_version = full(converter.old_version),
                            .kind = converter.kind,
                            .becomes = find_kind(full(converter.version), converter.kind)});
        return list;
    }();
    return all;
}

const OldVersion* find_old_version(std::string_view api_version, std::string_view kind) {
    for (const OldVersion& old : old_versions())
        if (old.kind == kind && old.api_version == api_version) return &old;
    return nullptr;
}

std::vector<std::string> versions_of(std::string_view kind) {
    std::vector<std::string> versions;
    for (const JobKind* known : all_kinds())
        if (known->resource.kind == kind) versions.push_back(known->resource.api_version());
    for (const OldVersion& old : old_versions())
        if (old.kind == kind) versions.push_back(old.api_version);
    return versions;
}

std::string origin_of(const std::vector<Origin>& origins, std::string_view field) {
    const Origin* nearest = nullptr;
    for (const Origin& origin : origins) {
        if (!field.starts_with(origin.field)) continue;
        const std::string_view inside = field.substr(origin.field.size());
        if (!inside.empty() && inside.front() != '.' && inside.front() != '[') continue;
        if (nearest == nullptr || origin.field.size() > nearest->field.size()) nearest = &origin;
    }
    if (nearest == nullptr) return std::string(field);
    return nearest->from + std::string(field.substr(nearest->field.size()));
}

Conversion convert(const json::value& object, std::string_view api_version) {
    Conversion done{.object = object, .changes = {}, .problems = {}, .origins = {}};
    const json::object* given = object.if_object();
    if (given == nullptr) return done;
    const std::string kind(kube::string_at(*given, "kind"));
    const std::string from(kube::string_at(*given, "apiVersion"));
    json::object made = *given;
    for (const Step& step : steps_between(kind, from, std::string(api_version))) {
        ConversionNotes notes(step.from, step.to);
        const bool good = take_step(step, kind, made, notes);
        // The changes of earlier steps refer to the given object.
        for (Cause& change : notes.changes) {
            change.field = origin_of(done.origins, change.field);
            done.changes.push_back(std::move(change));
        }
        for (Cause& problem : notes.problems) {
            problem.field = origin_of(done.origins, problem.field);
            done.problems.push_back(std::move(problem));
        }
        if (!good) return done;
        std::vector<Origin> origins;
        for (Origin& origin : notes.origins)
            origins.push_back({std::move(origin.field), origin_of(done.origins, origin.from)});
        // The places of a later step hide those that it rewrote.
        std::erase_if(done.origins, [&](const Origin& old) {
            return std::ranges::find(origins, old.field, &Origin::field) != origins.end();
        });
        std::ranges::move(origins, std::back_inserter(done.origins));
    }
    done.object = std::move(made);
    return done;
}

}  // namespace muster::jobs
