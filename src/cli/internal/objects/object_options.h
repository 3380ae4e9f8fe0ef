#pragma once

#include <string>
#include <vector>

namespace muster::cli {

/// The objects that a verb is about: `pods`, `pods a b`, `pod/a job/b`, or those of files.
struct ObjectOptions {
    std::vector<std::string> words;
    std::vector<std::string> files;
    std::string label_selector;
    std::string field_selector;
    bool all_namespaces = false;
};

}  // namespace muster::cli
