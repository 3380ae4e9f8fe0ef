#pragma once

#include <string>
#include <vector>

#include "manifest/manifest.h"

namespace muster::manifest {

/// Reads objects of old versions as those of a served version, each with a warning for the version
/// and for every field that changed. Objects that can't be converted are left out, with the
/// reasons. Pure.
void read_old_versions(std::vector<Document>& documents, std::vector<Problem>& problems);

/// The job in another version, with a warning for each change; an object that is not a job stays as
/// it is. `kind` is what people write ("pytorchjob", "PyTorchJobs", empty: any), `version` has no
/// group, or is empty for the stored one. False if the object is of another kind. Pure.
bool convert_document(Document& document, const std::string& kind, const std::string& version,
                      std::vector<Problem>& problems);

}  // namespace muster::manifest
