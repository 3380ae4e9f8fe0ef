#include "cli/internal/run/submission.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <ranges>

#include "kube/objects/api_status.h"

namespace muster::cli {

namespace {

std::string uid_of(const json::value& object) {
    return std::string(object.at("metadata").at("uid").get_string());
}

/// Why an object can't be created, if the server's message alone would not help.
std::optional<manifest::Problem> explained(const manifest::CheckedObject& object,
                                           const Error& error) {
    const auto problem = [&](std::string field, std::string message) {
        return object.document.problem(manifest::Severity::kError, std::move(field),
                                       std::move(message));
    };
    if (error.code() == Code::kAlreadyExists)
        return problem("metadata.name",
                       fmt::format("{} already exists: delete it ('muster delete -f FILE' deletes "
                                   "everything that a file names), or choose another name",
                                   shown_name(object)));
    if (error.code() != Code::kNotFound) return std::nullopt;
    if (error.message().contains(fmt::format("namespaces \"{}\"", object.namespace_)))
        return problem("metadata.namespace",
                       fmt::format("there is no namespace \"{0}\": create it ('kubectl create "
                                   "namespace {0}'), or add it to the manifest",
                                   object.namespace_));
    if (!object.job)
        return problem("kind", fmt::format("the server has no {}", object.type.qualified()));
    return problem("kind", fmt::format("the server has no {}: 'muster manifests | kubectl apply "
                                       "-f -' installs the operator and the kinds that it runs",
                                       object.type.qualified()));
}

}  // namespace

bool is_workload(const manifest::CheckedObject& object) {
    return object.job.has_value() || object.type == kube::types::kPods;
}

std::string shown_name(const manifest::CheckedObject& object) {
    return fmt::format("{} {}{}{}", object.type.kind, object.namespace_,
                       object.namespace_.empty() ? "" : "/", object.name);
}

bool holds(const json::value& there, const json::value& wanted) {
    if (const json::object* fields = wanted.if_object()) {
        const json::object* others = there.if_object();
        return others != nullptr && std::ranges::all_of(*fields, [&](const auto& field) {
                   const json::value* other = others->if_contains(field.key());
                   return other != nullptr && holds(*other, field.value());
               });
    }
    if (const json::array* items = wanted.if_array()) {
        const json::array* others = there.if_array();
        return others != nullptr && std::ranges::equal(*others, *items, holds);
    }
    return there == wanted;
}

Submission::Submission(kube::Client& client, Console& console,
                       const std::vector<manifest::CheckedObject>& objects, bool make_namespaces,
                       std::function<bool()> stopped)
    : client_(client),
      console_(console),
      objects_(objects),
      make_namespaces_(make_namespaces),
      stopped_(std::move(stopped)) {}

Task<bool> Submission::rehearse() {
    if (!co_await post_namespaces()) co_return false;
    co_return co_await post_all(true, {});
}

Task<bool> Submission::post(std::function<void(std::size_t, std::string)> posted) {
    co_return co_await post_all(false, posted);
}

/// Those of the manifest, then those that its objects name.
Task<bool> Submission::post_namespaces() {
    std::map<std::string, const manifest::CheckedObject*> wanted;
    for (const manifest::CheckedObject& object : objects_) {
        if (object.type == kube::types::kNamespaces)
            wanted[object.name] = &object;
        else if (make_namespaces_ && !object.namespace_.empty())
            wanted.try_emplace(object.namespace_, nullptr);
    }
    for (const auto& [name, object] : wanted) {
        json::value body = json::object{
            {"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", name}}}};
        if (object != nullptr) body = object->document.object;
        const Result<void> posted = co_await post_namespace(std::move(body), name);
        if (posted) continue;
        if (object != nullptr && !kube::is_away(posted.error()))
            refuse(*object, posted.error());
        else
            failure_ = Error(posted.error()).prefix("making the namespace " + name);
        co_return false;
    }
    co_return true;
}

/// An existing one is used, even by users who may not create any.
Task<Result<void>> Submission::post_namespace(json::value object, std::string name) {
    auto written = co_await client_.create(kube::types::kNamespaces, {}, std::move(object));
    if (written) {
        made_.push_back({kube::types::kNamespaces, {}, name, uid_of(*written->object)});
        co_return Result<void>();
    }
    if (written.error().code() == Code::kAlreadyExists) co_return Result<void>();
    if (!kube::is_away(written.error()) && co_await client_.get(kube::types::kNamespaces, {}, name))
        co_return Result<void>();
    co_return std::move(written.error());
}

Task<bool> Submission::post_all(bool dry_run,
                                const std::function<void(std::size_t, std::string)>& posted) {
    bool accepted = true;
    for (const bool workload : {false, true}) {
        for (std::size_t i = 0; i < objects_.size() && !stopped_(); ++i) {
            const manifest::CheckedObject& object = objects_[i];
            if (is_workload(object) != workload || object.type == kube::types::kNamespaces ||
                used_.contains(shown_name(object)))
                continue;
            kube::WriteOptions options;
            options.dry_run = dry_run;
            options.field_validation =
                kube::FieldValidation::kIgnore;  // the check has reported them
            json::value body = object.document.object;
            auto written =
                co_await client_.create(object.type, object.namespace_, std::move(body), options);
            if (!written) {
                if (written.error().code() == Code::kAlreadyExists && co_await is_there(object))
                    continue;
                refuse(object, written.error());
                accepted = false;
                // A dry run reports everything together; further ones would be in vain.
                if (!dry_run || failure_) co_return false;
            } else if (!dry_run) {
                std::string uid = uid_of(*written->object);
                made_.push_back({object.type, object.namespace_, object.name, uid});
                if (workload) posted(i, std::move(uid));
            }
        }
    }
    co_return accepted;
}

/// Objects that jobs use may exist from an earlier run. An existing job belongs to another run.
Task<bool> Submission::is_there(const manifest::CheckedObject& object) {
    if (is_workload(object)) co_return false;
    auto found = co_await client_.get(object.type, object.namespace_, object.name);
    if (!found || !holds(**found, object.document.object)) co_return false;
    used_.insert(shown_name(object));
    console_.tell(
        {Tone::kPlain, fmt::format("{} already exists, as in the manifest", shown_name(object))});
    co_return true;
}

void Submission::refuse(const manifest::CheckedObject& object, const Error& error) {
    if (kube::is_away(error)) {
        failure_ = Error(error).prefix("creating " + shown_name(object));
        return;
    }
    if (auto problem = explained(object, error)) return problems_.push_back(*std::move(problem));
    if (error.causes().empty())
        problems_.push_back(
            object.document.problem(manifest::Severity::kError, "", error.message()));
    for (const Cause& cause : error.causes())
        problems_.push_back(
            object.document.problem(manifest::Severity::kError, cause.field, cause.message));
}

Task<void> Submission::withdraw() {
    for (const Made& made : std::views::reverse(made_)) {
        kube::DeleteOptions options;
        options.propagation = kube::Propagation::kBackground;
        options.precondition_uid = made.uid;
        auto removed = co_await client_.remove(made.type, made.namespace_, made.name, options);
        if (!removed && removed.error().code() != Code::kNotFound)
            console_.tell(
                {Tone::kBad, fmt::format("{} {} was created and could not be deleted: {}",
                                         made.type.kind, made.name, removed.error().message())});
    }
    made_.clear();
}

}  // namespace muster::cli
