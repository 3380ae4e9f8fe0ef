#pragma once

#include <string>
#include <vector>

#include "cli/internal/connect/connection.h"
#include "cli/internal/objects/api_resources.h"
#include "manifest/manifest.h"

namespace muster::cli {

/// An object of a manifest, and its place on the server.
struct ManifestObject {
    manifest::Document document;
    kube::ResourceType type;
    std::string shown;       ///< "pod/a"
    std::string namespace_;  ///< empty if it has none
    std::string name;
};

/// Which objects a document is about, as far as it says. Pure.
struct DocumentIdentity {
    std::string api_version;
    std::string kind;
    std::string name;
    std::string namespace_;
};
DocumentIdentity identity_of(const manifest::Document& document);

/// What is missing in a document that names one object: apiVersion, kind, metadata.name. Pure.
std::vector<manifest::Problem> check_identity(const manifest::Document& document);

/// The object of a document on a server that has those kinds; a problem of the document if the
/// server does not have it. Pure.
std::expected<ManifestObject, manifest::Problem> place_object(manifest::Document document,
                                                              const ResourceCatalog& catalog,
                                                              const std::string& default_namespace);

}  // namespace muster::cli
