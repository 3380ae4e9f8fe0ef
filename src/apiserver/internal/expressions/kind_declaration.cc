#include "apiserver/internal/expressions/kind_declaration.h"

#include "apiserver/internal/expressions/schema_declaration.h"

namespace muster::apiserver {
namespace {

using cel::Declaration;
using cel::DeclarationPtr;
using kube::Schema;

class KindDeclaration {
  public:
    explicit KindDeclaration(bool custom) : custom_(custom) {}

    DeclarationPtr of(const Schema& schema, const std::string& name) const {
        if (schema.type == Schema::Type::kArray)
            return schema.items == nullptr
                       ? nullptr
                       : holding(Declaration::Form::kList, *schema.items, name + ".@idx");
        if (schema.type == Schema::Type::kObject && schema.additional != nullptr)
            return holding(Declaration::Form::kMap, *schema.additional, name + ".@elem");
        if (schema.type == Schema::Type::kObject)
            return object(schema, name, schema.embedded_resource);
        if (custom_) return declaration_of(schema, false, name);
        if (schema.format == "quantity") return nullptr;
        // Published as date-time, too.
        if (schema.format == "kubernetes-micro-time") return scalar(cel::Type::Kind::kTimestamp);
        return declaration_of(schema, false, name);
    }
    DeclarationPtr object(const Schema& schema, const std::string& name, bool whole) const {
        Declaration made;
        made.form = Declaration::Form::kObject;
        made.name = name;
        for (const auto& [key, property] : schema.properties) {
            // The tables do not have the structure of schemas.
            const bool is_schema = !custom_ && key == "openAPIV3Schema";
            add(made, std::string(key),
                is_schema ? scalar(cel::Type::Kind::kDyn)
                          : of(*property, name + "." + std::string(key)));
        }
        if (whole) add_whole(made);
        return std::make_shared<const Declaration>(std::move(made));
    }

  private:
    static DeclarationPtr scalar(cel::Type::Kind kind) {
        Declaration made;
        made.scalar = kind;
        return std::make_shared<const Declaration>(std::move(made));
    }
    DeclarationPtr holding(Declaration::Form form, const Schema& element,
                           const std::string& name) const {
        Declaration made;
        made.form = form;
        made.element = of(element, name);
        if (made.element == nullptr) return nullptr;
        return std::make_shared<const Declaration>(std::move(made));
    }
    static void add(Declaration& object, const std::string& name, DeclarationPtr declaration) {
        const std::string escaped = cel::escape(name);
        if (declaration != nullptr && !escaped.empty())
            object.fields[escaped] = {name, std::move(declaration)};
    }
    /// What is published of each custom object, whatever its definition says.
    static void add_whole(Declaration& object) {
        add(object, "apiVersion", scalar(cel::Type::Kind::kString));
        add(object, "kind", scalar(cel::Type::Kind::kString));
        add(object, "metadata",
            KindDeclaration(false).of(*kube::core_schema("ObjectMeta"), object.name + ".metadata"));
    }

    bool custom_;
};

}  // namespace

cel::DeclarationPtr declaration_of_kind(const ResourceDef& def) {
    const kube::Schema& schema = *def.schema;
    if (schema.type != kube::Schema::Type::kObject) return nullptr;
    return KindDeclaration(def.custom).object(schema, def.type.kind, def.custom);
}

}  // namespace muster::apiserver
