#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apiserver/objects/field_errors.h"
#include "cel/program.h"
#include "kube/schema/schema.h"

namespace muster::apiserver {

/// The rules of a definition (x-kubernetes-validations), compiled. Immutable, any thread. Upstream:
/// k8s.io/apiextensions-apiserver v0.33, pkg/apiserver/schema/cel.
class SchemaRules {
  public:
    /// Null if there are no rules. Adds what is wrong with them to `problems`: what does not
    /// compile, does not fit, or may cost too much; such rules are left out. `path` is where the
    /// schema stands in the definition.
    static std::shared_ptr<const SchemaRules> compile(const kube::Schema::Ptr& schema,
                                                      const std::string& path,
                                                      FieldErrors& problems);

    /// Evaluates them over an object whose structure is valid. `before`: its stored state, null for
    /// a new object. As upstream, a part that has not changed may be what it was.
    void check(const json::value& object, const json::value* before,
               FieldErrors& field_errors) const;

    /// Whether they may take so long that others should not wait for it.
    bool is_costly() const;

    struct Rule {
        kube::Schema::Rule source;
        cel::Program program;
        std::optional<cel::Program> message;
        bool uses_old = false;
    };
    /// Those of a part of the schema and of what is below it.
    struct Node {
        kube::Schema::Ptr schema;
        cel::DeclarationPtr declaration;
        std::vector<Rule> rules;
        std::map<std::string, std::unique_ptr<Node>, std::less<>> properties;
        std::unique_ptr<Node> elements;  ///< of a list or a map
    };

  private:
    std::unique_ptr<Node> root_;
    std::uint64_t most_cost_ = 0;
};

}  // namespace muster::apiserver
