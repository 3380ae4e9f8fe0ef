#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace muster::cli {

/// One end of a copy.
struct CopyEnd {
    std::string pod;  ///< "digits/worker-0"; empty: this machine
    std::string path;

    friend bool operator==(const CopyEnd&, const CopyEnd&) = default;
};

struct CopyWords {
    CopyEnd from;
    CopyEnd to;

    friend bool operator==(const CopyWords&, const CopyWords&) = default;
};

/// "WHERE:PATH" and a path, in either order. A path with a colon is written as ./a:b. Pure.
Result<CopyWords> parse_copy_words(const std::vector<std::string>& words);

/// How a container's path is archived: tar's arguments for it, and what its members' names begin
/// with.
struct RemoteArchive {
    std::vector<std::string> command;
    std::string prefix;
};
/// Pure.
RemoteArchive remote_archive(const std::string& path);

/// The last name of a path, also of one like "a/.." or "/"; may be empty. Pure.
std::string last_name(const std::string& path);
/// The directory that it is in: "." for a name alone. Pure.
std::string parent_of(const std::string& path);

}  // namespace muster::cli
