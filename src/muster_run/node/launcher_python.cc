#include "muster_run/node/launcher_python.h"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

#include "muster_run/node/node_facts.h"
#include "process/program_file.h"

namespace muster::run {
namespace {

constexpr std::string_view kSpaces = " \t\r";

bool names_python(std::string_view path) {
    return path.substr(path.rfind('/') + 1).starts_with("python");
}

std::string in_path(std::string_view name, const launch::Variables& variables) {
    if (name.find('/') != std::string_view::npos) return std::string(name);
    return find_in_path({&name, 1}, variables);
}

/// Takes the first word off; a word in quotes is what they enclose.
std::string_view take_word(std::string_view& line) {
    line.remove_prefix(std::min(line.find_first_not_of(kSpaces), line.size()));
    const bool quoted = line.starts_with('"');
    if (quoted) line.remove_prefix(1);
    const std::size_t end = quoted ? line.find('"') : line.find_first_of(kSpaces);
    const std::string_view word = line.substr(0, end);
    line.remove_prefix(std::min(word.size() + (quoted ? 1 : 0), line.size()));
    return word;
}

/// What a script's beginning names; empty: no Python.
std::string named_python(const std::string& first, const std::string& second,
                         const launch::Variables& variables) {
    std::string_view line = first;
    if (!line.starts_with("#!")) return {};
    line.remove_prefix(2);
    const std::string_view program = take_word(line);
    if (names_python(program)) return std::string(program);
    if (program.ends_with("/env")) {
        std::string_view name = take_word(line);
        if (name == "-S") name = take_word(line);
        return names_python(name) ? in_path(name, variables) : std::string();
    }
    // pip writes this where the path is too long for a first line, or has spaces.
    constexpr std::string_view kExec = "'''exec'";
    line = second;
    if (!line.starts_with(kExec)) return {};
    line.remove_prefix(kExec.size());
    const std::string_view python = take_word(line);
    return names_python(python) ? std::string(python) : std::string();
}

}  // namespace

std::string python_of(const std::string& launcher, const launch::Variables& variables) {
    if (launcher.empty()) return {};
    std::string path = in_path(launcher, variables);
    if (!names_python(launcher)) {
        std::ifstream script(path);
        std::string first;
        std::string second;
        std::getline(script, first);
        std::getline(script, second);
        path = named_python(first, second, variables);
    }
    return !path.empty() && ::access(path.c_str(), X_OK) == 0 ? path : std::string();
}

std::string launcher_behind(const std::string& own, const std::string& name,
                            const launch::Variables& variables) {
    const std::string* const path = launch::find_variable(variables, "PATH");
    if (path == nullptr) return {};
    std::string before;
    std::string behind;
    bool ours = false;
    for (const std::string& place : process::program_candidates(name, *path)) {
        std::error_code error;
        if (std::filesystem::equivalent(place, own, error))
            ours = true;
        else if (std::string& found = ours ? behind : before;
                 found.empty() && ::access(place.c_str(), X_OK) == 0)
            found = place;
    }
    return ours ? behind : before;
}

}  // namespace muster::run
