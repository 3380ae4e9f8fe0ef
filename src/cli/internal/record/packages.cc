#include "cli/internal/record/packages.h"

#include <unistd.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "base/fields.h"
#include "kube/values/json_access.h"

namespace muster::cli {

namespace fs = std::filesystem;

namespace {

bool names_python(std::string_view word) {
    return word.starts_with('/') && word.substr(word.rfind('/') + 1).starts_with("python");
}

/// The first word of a command or of its arguments that is the path of a Python.
std::string named_python(const json::value& value) {
    if (const json::array* array = value.if_array()) {
        for (const json::value& item : *array)
            if (std::string found = named_python(item); !found.empty()) return found;
    } else if (const json::object* object = value.if_object()) {
        for (const std::string_view key : {"command", "args"})
            for (const std::string& word : kube::strings_at(*object, key))
                if (names_python(word)) return word;
        for (const auto& [key, child] : *object)
            if (std::string found = named_python(child); !found.empty()) return found;
    }
    return {};
}

void add_entries(const fs::path& directory, std::set<std::string>& packages) {
    std::error_code failed;
    for (fs::directory_iterator entry(directory, failed), end; !failed && entry != end;
         entry.increment(failed))
        if (std::string package = package_of_entry(entry->path().filename()); !package.empty())
            packages.insert(std::move(package));
}

/// Those of `lib/pythonX.Y/` that a Python looks into.
void add_versions(const fs::path& lib, std::set<std::string>& packages) {
    std::error_code failed;
    for (fs::directory_iterator entry(lib, failed), end; !failed && entry != end;
         entry.increment(failed)) {
        if (!entry->path().filename().string().starts_with("python3")) continue;
        add_entries(entry->path() / "site-packages", packages);
        add_entries(entry->path() / "dist-packages", packages);
    }
}

}  // namespace

std::string package_of_entry(const std::string& name) {
    for (const std::string_view end : {".dist-info", ".egg-info"}) {
        if (!name.ends_with(end)) continue;
        std::string_view rest = std::string_view(name).substr(0, name.size() - end.size());
        const std::string_view package = take_field(rest, '-');
        const std::string_view version = take_field(rest, '-');  // "-py3.11" may follow
        return version.empty() ? std::string(package)
                               : std::string(package) + " " + std::string(version);
    }
    return {};
}

fs::path python_of(const std::vector<json::value>& objects, const control_plane::Caller& caller) {
    for (const json::value& object : objects)
        if (std::string named = named_python(object); !named.empty()) return named;
    const std::string path = caller.variable("PATH");
    std::string_view rest = path;
    while (!rest.empty()) {
        const fs::path directory(take_field(rest, ':'));
        for (const char* name : {"python3", "python"})
            if (directory.is_absolute() && ::access((directory / name).c_str(), X_OK) == 0)
                return directory / name;
    }
    return {};
}

std::string installed_packages(const fs::path& python, const control_plane::Caller& caller) {
    std::set<std::string> packages;
    if (!python.empty()) {
        const fs::path prefix = python.parent_path().parent_path();
        add_versions(prefix / "lib", packages);
        // A virtual environment hides those of the machine unless it says otherwise.
        std::error_code missing;
        if (!fs::exists(prefix / "pyvenv.cfg", missing)) {
            if (prefix == "/usr") add_versions("/usr/local/lib", packages);
            add_versions(fs::path(caller.home()) / ".local" / "lib", packages);
        }
    }
    std::string text;
    for (const std::string& package : packages) text += package + "\n";
    return text;
}

}  // namespace muster::cli
