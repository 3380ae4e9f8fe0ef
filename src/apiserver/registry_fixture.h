#pragma once

#include <fmt/format.h>

#include <boost/json/parse.hpp>
#include <string>

#include "apiserver/internal/types/builtin_types.h"
#include "apiserver/internal/types/crd.h"
#include "apiserver/resources/registry.h"

namespace muster::apiserver {

/// A registry with the built-in kinds, to which custom ones can be added.
class RegistryFixture {
  protected:
    RegistryFixture() {
        for (DefPtr& def : builtin_types(read_)) registry_.add(std::move(def));
    }

    /// `versions` are the entries of spec.versions, without schemas.
    void define(std::string_view plural, std::string_view kind, std::string_view group,
                std::string_view versions, std::string_view schema = R"({"type":"object"})") {
        json::value crd = json::parse(fmt::format(
            R"({{"metadata":{{"name":"{0}.{2}"}},"spec":{{"group":"{2}","scope":"Namespaced",
                "names":{{"plural":"{0}","kind":"{1}","singular":"one{0}","listKind":"{1}List",
                "shortNames":["sh"],"categories":["all"]}},"versions":[{3}]}}}})",
            plural, kind, group, versions));
        for (json::value& version : crd.at("spec").at("versions").as_array())
            version.as_object()["schema"] = {
                {"openAPIV3Schema", json::parse(json::string_view(schema))}};
        define(crd.get_object());
    }
    /// The versions of a complete definition.
    std::vector<DefPtr> define(const json::object& crd) {
        std::vector<DefPtr> made = definitions_of(crd, read_);
        for (const DefPtr& def : made) registry_.add(def);
        return made;
    }

    ReadDefinition read_;
    Registry registry_;
};

}  // namespace muster::apiserver
