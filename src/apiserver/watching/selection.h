#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apiserver/requests/status_error.h"
#include "apiserver/resources/resource_def.h"
#include "kube/objects/selector.h"
#include "store/object_text.h"

namespace muster::apiserver {

/// The objects of one resource that a list, watch or deletecollection is about.
class Selection {
  public:
    /// Refuses selectors that can't be parsed and fields that the kind does not offer.
    static StatusResult<Selection> make(const ResourceDef& def, std::string namespace_,
                                        std::string_view label_selector,
                                        std::string_view field_selector);

    const std::string& namespace_scope() const { return namespace_; }
    /// Set if a field selector fixes the name; this is how clients watch one object.
    const std::optional<std::string>& name() const { return name_; }
    bool has_selectors() const { return !labels_.empty() || !fields_.empty(); }
    /// Whether it asks for more than names, so that it may differ from version to version of an
    /// object that a webhook converts.
    bool reads_objects() const;

    /// The caller checks the namespace; this checks name, labels and fields.
    bool matches(const json::value& object) const;
    /// The same, by looking only for these fields if there is no tree.
    bool matches(const store::ObjectText& object) const;

  private:
    std::string namespace_;
    std::optional<std::string> name_;
    kube::LabelSelector labels_;
    std::vector<kube::FieldRequirement> fields_;
};

}  // namespace muster::apiserver
