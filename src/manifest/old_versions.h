#pragma once

#include <string>
#include <vector>

#include "manifest/manifest.h"

namespace muster::manifest {

/// Reads objects of old versions as those of a version that is served, each with a warning for the
/// version and for every field that became another one. What can't be converted is left out, with
/// the reasons. Pure.
void read_old_versions(std::vector<Document>& documents, std::vector<Problem>& problems);

/// The job in another version, with a warning for each thing that changed; what is not a job stays as
/// it is. `kind` is as people write it ("pytorchjob", "PyTorchJobs", empty: any), `version` without
/// the group, or empty for the stored one. False when the object is of another kind. Pure.
bool convert_document(Document& document, const std::string& kind, const std::string& version,
                      std::vector<Problem>& problems);

}  // namespace muster::manifest
