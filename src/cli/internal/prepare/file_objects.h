#pragma once

#include <boost/json/object.hpp>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kube/values/json.h"
#include "manifest/manifest.h"
#include "manifest/problem.h"

namespace muster::cli {

/// A Secret or a ConfigMap that a flag makes: --secret NAME=SOURCE, --config NAME=SOURCE.
struct FileObject {
    std::string kind;  ///< "Secret" or "ConfigMap"
    std::string name;
    std::string source;

    std::string flag() const;
};

/// How a source is read. A directory has a key for each of its files, in the order of their names.
struct SourceReader {
    std::function<Result<std::string>(const std::string& path)> file;
    /// The names of its files; nullopt if it is no directory.
    std::function<std::optional<std::vector<std::string>>(const std::string& path)> directory;
    /// The value of a variable of the caller; "" if it is not set.
    std::function<std::string(const std::string& name)> variable;
};
SourceReader read_sources_below(std::string working_dir,
                                std::function<std::string(const std::string&)> variable);

using KeyValues = std::map<std::string, std::string>;

/// The keys and values of a source:
///   FILE         one key, its name              as kubectl's --from-file
///   FILE.env     a key for each line KEY=VALUE  as its --from-env-file
///   DIR          a key for each file
///   KEY=@FILE    one key with what is in FILE
///   KEY=VALUE    one key with that value        as its --from-literal
Result<KeyValues> read_source(const std::string& source, const SourceReader& reader);

/// The lines of a text as KEY=VALUE. A line without '=' takes the variable of the caller.
Result<KeyValues> read_variables(std::string_view text,
                                 const std::function<std::string(const std::string&)>& variable);

/// What all flags of one name say together.
struct GatheredObject {
    FileObject first;
    KeyValues data;
};
struct GatheredObjects {
    std::vector<GatheredObject> objects;
    std::vector<manifest::Problem> problems;  ///< which name the flag
};
GatheredObjects gather_file_objects(const std::vector<FileObject>& objects,
                                    const SourceReader& reader);

/// Adds the objects of the flags to the documents, in each namespace where a pod refers to one that
/// the documents do not have. Several flags of one name are one object. Problems name the flag.
std::vector<manifest::Problem> add_file_objects(std::vector<manifest::Document>& documents,
                                                const std::vector<FileObject>& objects,
                                                const SourceReader& reader);

}  // namespace muster::cli
