#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace muster::kube {

/// An image's name as it is compared: "nginx", "docker.io/library/nginx" and "index.docker.io/nginx"
/// are one.
struct ImageName {
    std::string repository;  ///< "docker.io/library/nginx"
    std::string tag;         ///< empty: none
};
/// Digests are left out: images are known by their tags here.
ImageName image_name(std::string_view image);

/// What images run when a container has no command, where no image can be asked.
class Entrypoints {
  public:
    /// A later one of the same name replaces an earlier one.
    void add(std::string_view image, std::vector<std::string> command);
    /// Those of another are added, unless there is one for that image.
    void add_missing(const Entrypoints& others);
    /// The command of an image; null if it is not known. One that was added with a tag is for that
    /// tag, and comes before one without, which is for all tags.
    const std::vector<std::string>* of(std::string_view image) const;
    bool empty() const { return commands_.empty(); }

  private:
    /// By repository, or repository:tag.
    std::map<std::string, std::vector<std::string>, std::less<>> commands_;
};

/// The words of a command as a POSIX shell splits them: quotes and backslashes are removed, nothing
/// is expanded. kInvalid if a quote is not closed or there is no word.
Result<std::vector<std::string>> command_words(std::string_view text);

}  // namespace muster::kube
