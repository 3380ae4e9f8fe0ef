#pragma once

#include <string>
#include <string_view>

namespace muster::pod_tools {

/// The PATH of a shell that was given none: that of dash, and of bash as Debian builds it.
inline constexpr std::string_view kShellsPath =
    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// A list of folders, separated by ':', with one more in front, unless it is there already.
std::string with_first(std::string_view folder, std::string_view list);

/// The part of a path behind its last '/', and what is before that ("." for nothing).
std::string_view file_name(std::string_view path);
std::string_view folder_of(std::string_view path);

}  // namespace muster::pod_tools
