#include "apiserver/internal/writing/metadata_rules.h"

#include "apiserver/objects/json_access.h"
#include "kube/values/name_syntax.h"

namespace muster::apiserver {

namespace {

/// The rights to each are looked up, and the garbage collector keeps all of them.
constexpr std::size_t kMostOwners = 1000;

void check_name(NameRule rule, std::string_view name, const std::string& field,
                FieldErrors& field_errors) {
    std::size_t limit = kube::kMaxSubdomain;
    std::string_view message;
    switch (rule) {
        case NameRule::kDnsLabel:
            limit = kube::kMaxLabelName;
            if (!kube::is_dns1123_label(name)) message = kDnsLabelMessage;
            break;
        case NameRule::kDns1035Label:
            limit = kube::kMaxLabelName;
            if (!kube::is_dns1035_label(name)) message = kDns1035LabelMessage;
            break;
        case NameRule::kDnsSubdomain:
            if (!kube::is_dns1123_subdomain(name)) message = kDnsSubdomainMessage;
            break;
        case NameRule::kPathSegment:
            if (name == "." || name == ".." || name.find_first_of("/%") != std::string_view::npos)
                message = "may not be '.', '..' or contain '/' or '%'";
            break;
    }
    if (name.size() > limit)
        field_errors.push_back(invalid_value(
            field, json::value(name), fmt::format("must be no more than {} characters", limit)));
    else if (!message.empty())
        field_errors.push_back(invalid_value(field, json::value(name), message));
}

void check_finalizers(const json::array& finalizers, FieldErrors& field_errors) {
    bool orphan = false;
    bool foreground = false;
    for (std::size_t i = 0; i < finalizers.size(); ++i) {
        const std::string name =
            finalizers[i].is_string() ? std::string(finalizers[i].get_string()) : std::string();
        const std::string field = fmt::format("metadata.finalizers[{}]", i);
        orphan |= name == "orphan";
        foreground |= name == "foregroundDeletion";
        if (!is_qualified_name(name))
            field_errors.push_back(invalid_value(field, json::value(name), kQualifiedNameMessage));
        else if (name.find('/') == std::string::npos && name != "kubernetes" && name != "orphan" &&
                 name != "foregroundDeletion")
            field_errors.push_back(invalid_value(
                field, json::value(name),
                "name is neither a standard finalizer name nor is it fully qualified"));
    }
    if (orphan && foreground)
        field_errors.push_back(
            invalid_value("metadata.finalizers", finalizers,
                          "finalizer orphan and foregroundDeletion cannot be both "
                          "set"));
}

void check_owners(const json::array& owners, FieldErrors& field_errors) {
    if (owners.size() > kMostOwners) {
        field_errors.push_back(too_many("metadata.ownerReferences", owners.size(), kMostOwners));
        return;
    }
    std::size_t controllers = 0;
    for (const json::value& entry : owners) {
        const json::object* owner = entry.if_object();
        if (owner == nullptr) continue;
        for (const std::string_view key : {"apiVersion", "kind", "name", "uid"})
            if (string_at(*owner, key).empty())
                field_errors.push_back(invalid_value(
                    fmt::format("metadata.ownerReferences.{}", key), json::value(""),
                    key == "apiVersion" ? "version must not be empty" : "must not be empty"));
        if (bool_at(*owner, "controller")) ++controllers;
    }
    if (controllers > 1)
        field_errors.push_back(invalid_value("metadata.ownerReferences", owners,
                                             "Only one reference can have Controller set to true"));
}

}  // namespace

void validate_metadata(const ResourceDef& def, const json::object& object,
                       FieldErrors& field_errors) {
    const json::object& meta = metadata_of(object);
    const std::string_view name = string_at(meta, "name");
    if (name.empty())
        field_errors.push_back(required("metadata.name", "name or generateName is required"));
    else
        check_name(def.name_rule, name, "metadata.name", field_errors);
    if (const json::object* labels = object_at(meta, "labels"))
        check_labels(*labels, "metadata.labels", field_errors);
    if (const json::object* annotations = object_at(meta, "annotations"))
        check_annotations(*annotations, "metadata.annotations", field_errors);
    if (const json::array* finalizers = array_at(meta, "finalizers"))
        check_finalizers(*finalizers, field_errors);
    if (const json::array* owners = array_at(meta, "ownerReferences"))
        check_owners(*owners, field_errors);
}

std::string random_suffix(Rng& rng) {
    constexpr std::string_view kAlphabet = "bcdfghjklmnpqrstvwxz2456789";
    std::string suffix;
    for (int i = 0; i < 5; ++i) suffix += kAlphabet[rng.below(kAlphabet.size())];
    return suffix;
}

}  // namespace muster::apiserver
