#include "apiserver/internal/admission/admission_subject.h"

#include "apiserver/internal/conversions/webhook_versions.h"
#include "apiserver/objects/json_access.h"

namespace muster::apiserver {
namespace {

constexpr std::string_view kRegistrationGroup = "admissionregistration.k8s.io";

const json::object* object_of(const json::value* value) {
    return value == nullptr ? nullptr : value->if_object();
}

const json::value* chosen(const std::optional<kube::Document>& made, const json::value* given) {
    return made ? &made->value() : given;
}

/// The user as it is reported; this process has a name, too.
User asking(const Requester& requester) {
    if (requester.user != nullptr) return *requester.user;
    return {.name = "system:muster", .uid = {}, .groups = {"system:masters"}};
}

}  // namespace

bool is_exempt(const AdmissionSubject& subject) {
    return subject.target.type().group == kRegistrationGroup;
}

std::string name_in(const AdmissionSubject& subject, const json::value* after) {
    if (!subject.target.name.empty() || after == nullptr) return subject.target.name;
    return std::string(name_of(after->get_object()));
}

DefPtr seen_as(const Registry& registry, const AdmissionSubject& subject,
               const kube::ResourceType& type) {
    return type == subject.target.type() ? subject.target.def
                                         : registry.find(type.api_version(), type.plural);
}

SubjectToMatch::SubjectToMatch(const ServerState& state, const AdmissionSubject& subject,
                               const json::value* before, const json::value* after) {
    const Target& target = subject.target;
    write = {.operation = subject.operation,
             .type = target.type(),
             .subresource = target.subresource,
             .name = name_in(subject, after),
             .served_as = {},
             .before = object_of(before),
             .after = object_of(after),
             .namespace_labels = nullptr};
    for (const DefPtr& def : state.registry.served_as(*target.def))
        write.served_as.push_back(def->type);
    static const json::object kNoLabels;
    const json::object* labelled = nullptr;
    if (target.type().namespaced) {
        const CachedObject* found = state.cache.find("namespaces", "", target.namespace_);
        if (found != nullptr) space = found->tree();
        labelled = space == nullptr ? &kNoLabels : &space->get_object();
    } else if (target.def->storage_key() == "namespaces") {
        labelled = object_of(after == nullptr ? before : after);
    }
    if (labelled == nullptr) return;
    const json::object* labels = object_at(metadata_of(*labelled), "labels");
    write.namespace_labels = labels == nullptr ? &kNoLabels : labels;
}

Task<StatusResult<ConvertedObjects>> objects_seen_as(ServerState& state,
                                                     const AdmissionSubject& subject, DefPtr as,
                                                     const json::value* before,
                                                     const json::value* after) {
    ConvertedObjects converted;
    const DefPtr& from = subject.target.def;
    if (as == from) co_return converted;
    if (before != nullptr) {
        CO_TRY(converted.before, co_await convert(state, from, as, *before));
    }
    if (after != nullptr) {
        CO_TRY(converted.after, co_await convert(state, from, as, *after));
    }
    co_return converted;
}

SeenWrite::SeenWrite(const AdmissionSubject& subject, const ResourceDef& as,
                     const ConvertedObjects& converted, const json::value* before,
                     const json::value* after)
    : subject_(subject),
      as_(as),
      name_(name_in(subject, after)),
      before_(chosen(converted.before, before)),
      after_(chosen(converted.after, after)) {}

ReviewQuestion SeenWrite::question() const {
    const Target& target = subject_.target;
    return {.uid = {},
            .operation = subject_.operation,
            .type = as_.type,
            .requested = target.type(),
            .subresource = target.subresource,
            .namespace_ = target.namespace_,
            .name = name_,
            .user = asking(subject_.requester),
            .dry_run = subject_.dry_run,
            .object = after_,
            .before = before_};
}

WriteInQuestion write_in(const ReviewQuestion& question) {
    cel::AuthorizationQuestion resource;
    resource.group = question.requested.group;
    resource.resource = question.requested.plural;
    resource.subresource = question.subresource;
    resource.namespace_ = question.namespace_;
    resource.name = question.name;
    return {.object = question.object,
            .before = question.before,
            .request = admission_request(question),
            .params = nullptr,
            .space = nullptr,
            .resource = std::move(resource)};
}

}  // namespace muster::apiserver
