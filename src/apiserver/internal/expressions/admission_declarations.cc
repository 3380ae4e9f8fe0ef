#include "apiserver/internal/expressions/admission_declarations.h"

namespace muster::apiserver {
namespace {

using cel::Declaration;
using cel::DeclarationPtr;
using Kind = cel::Type::Kind;

DeclarationPtr scalar_field(Kind kind) {
    Declaration made;
    made.form = Declaration::Form::kScalar;
    made.scalar = kind;
    return std::make_shared<const Declaration>(std::move(made));
}
DeclarationPtr text_field() {
    static const DeclarationPtr kText = scalar_field(Kind::kString);
    return kText;
}
DeclarationPtr list_field(DeclarationPtr element) {
    Declaration made;
    made.form = Declaration::Form::kList;
    made.element = std::move(element);
    return std::make_shared<const Declaration>(std::move(made));
}
DeclarationPtr map_field(DeclarationPtr value) {
    Declaration made;
    made.form = Declaration::Form::kMap;
    made.element = std::move(value);
    return std::make_shared<const Declaration>(std::move(made));
}

using Fields = std::initializer_list<std::pair<const char*, DeclarationPtr>>;

DeclarationPtr object_field(const char* name, const Fields& fields) {
    Declaration made;
    made.form = Declaration::Form::kObject;
    made.name = name;
    for (const auto& [field, declaration] : fields) {
        // `namespace` is a reserved word, by which upstream's fields are found all the same.
        made.fields[field] = {field, declaration};
    }
    return std::make_shared<const Declaration>(std::move(made));
}

}  // namespace

const DeclarationPtr& request_declaration() {
    static const DeclarationPtr kRequest = [] {
        const DeclarationPtr kind = object_field(
            "kubernetes.GroupVersionKind",
            {{"group", text_field()}, {"version", text_field()}, {"kind", text_field()}});
        const DeclarationPtr resource = object_field(
            "kubernetes.GroupVersionResource",
            {{"group", text_field()}, {"version", text_field()}, {"resource", text_field()}});
        const DeclarationPtr user =
            object_field("kubernetes.UserInfo", {{"username", text_field()},
                                                 {"uid", text_field()},
                                                 {"groups", list_field(text_field())},
                                                 {"extra", map_field(list_field(text_field()))}});
        return object_field("kubernetes.AdmissionRequest", {{"kind", kind},
                                                            {"resource", resource},
                                                            {"subResource", text_field()},
                                                            {"requestKind", kind},
                                                            {"requestResource", resource},
                                                            {"requestSubResource", text_field()},
                                                            {"name", text_field()},
                                                            {"namespace", text_field()},
                                                            {"operation", text_field()},
                                                            {"userInfo", user},
                                                            {"dryRun", scalar_field(Kind::kBool)},
                                                            {"options", scalar_field(Kind::kDyn)}});
    }();
    return kRequest;
}

const DeclarationPtr& namespace_declaration() {
    static const DeclarationPtr kNamespace = [] {
        const DeclarationPtr time = scalar_field(Kind::kTimestamp);
        const DeclarationPtr number = scalar_field(Kind::kInt);
        const DeclarationPtr spec =
            object_field("kubernetes.NamespaceSpec", {{"finalizers", list_field(text_field())}});
        const DeclarationPtr condition =
            object_field("kubernetes.NamespaceCondition", {{"status", text_field()},
                                                           {"type", text_field()},
                                                           {"lastTransitionTime", time},
                                                           {"message", text_field()},
                                                           {"reason", text_field()}});
        const DeclarationPtr status =
            object_field("kubernetes.NamespaceStatus",
                         {{"conditions", list_field(condition)}, {"phase", text_field()}});
        const DeclarationPtr metadata = object_field("kubernetes.NamespaceMetadata",
                                                     {{"name", text_field()},
                                                      {"generateName", text_field()},
                                                      {"namespace", text_field()},
                                                      {"labels", map_field(text_field())},
                                                      {"annotations", map_field(text_field())},
                                                      {"UID", text_field()},
                                                      {"creationTimestamp", time},
                                                      {"deletionGracePeriodSeconds", number},
                                                      {"deletionTimestamp", time},
                                                      {"generation", number},
                                                      {"resourceVersion", text_field()},
                                                      {"finalizers", list_field(text_field())}});
        return object_field("kubernetes.Namespace",
                            {{"metadata", metadata}, {"spec", spec}, {"status", status}});
    }();
    return kNamespace;
}

DeclarationPtr declaration_of_type(const cel::Type& type) {
    switch (type.kind()) {
        case Kind::kBool:
        case Kind::kBytes:
        case Kind::kDouble:
        case Kind::kDuration:
        case Kind::kInt:
        case Kind::kNull:
        case Kind::kString:
        case Kind::kTimestamp:
        case Kind::kUint:
            return scalar_field(type.kind());
        case Kind::kList:
            return list_field(declaration_of_type(type.parameters()[0]));
        case Kind::kMap:
            // A declaration knows maps by texts alone.
            if (type.parameters()[0].kind() == Kind::kString)
                return map_field(declaration_of_type(type.parameters()[1]));
            return scalar_field(Kind::kDyn);
        default:
            return scalar_field(Kind::kDyn);
    }
}

}  // namespace muster::apiserver
