#include "cli/internal/prepare/container_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>

#include "cli/internal/prepare/resource_check.h"
#include "kube/values/json_access.h"
#include "runtime/container_paths.h"

namespace muster::cli {
namespace {

using runtime::is_below;
using runtime::normal_path;

using FileKind = control_plane::Machine::FileKind;

std::string parent_of(const std::string& path) {
    std::string parent = std::filesystem::path(path).parent_path().string();
    return parent.empty() ? "/" : parent;
}

/// Programs whose first argument that is not an option is a file to run.
bool takes_script(std::string_view program) {
    std::size_t slash = program.rfind('/');
    if (slash != std::string_view::npos) program.remove_prefix(slash + 1);
    if (program.starts_with("python")) {
        program.remove_prefix(6);
        return program.find_first_not_of("0123456789.") == std::string_view::npos;
    }
    constexpr std::array<std::string_view, 6> kPrograms = {"bash", "sh",   "dash",
                                                           "perl", "node", "Rscript"};
    return std::ranges::find(kPrograms, program) != kPrograms.end();
}

/// The script among the arguments of such a program, and its index; nothing after -c, -m, -e, "-".
std::optional<std::size_t> script_index(const std::vector<std::string>& words) {
    for (std::size_t i = 1; i < words.size(); ++i) {
        const std::string& word = words[i];
        if (!word.starts_with('-')) return i;
        // An option that takes a value of its own, or code instead of a file.
        if (word != "-u" && word != "-B" && word != "-E" && word != "-I" && word != "-O" &&
            word != "-s" && word != "-S" && word != "-v" && word != "-x" && word != "-e" &&
            word != "-l")
            return std::nullopt;
        if (word == "-e" && !takes_script(words[0])) return std::nullopt;
    }
    return std::nullopt;
}

/// One container in its pod.
class ContainerCheck {
  public:
    ContainerCheck(const manifest::Document& document, const manifest::PodSpecRef& pod,
                   const manifest::ContainerRef& ref, const kube::Container* made,
                   const std::vector<MountPoint>& mounts, const control_plane::Machine& machine,
                   const Surroundings& around, MachineProblems& found)
        : document_(document),
          pod_(pod),
          ref_(ref),
          machine_(machine),
          around_(around),
          problems_(found.always),
          with_own_tmp_(found.with_own_tmp) {
        for (const MountPoint& point : mounts) mounted_.push_back(point.path);
        if (made != nullptr) given_ = made->command;
    }

    void run() {
        check_resources(document_, ref_, machine_, problems_);
        working_dir_ = kube::string_at(*ref_.container, "workingDir");
        bool own_dir = !working_dir_.empty();
        if (!own_dir) working_dir_ = around_.working_dir;
        // A relative workingDir starts at the root of the image.
        if (!working_dir_.starts_with('/')) working_dir_ = "/" + working_dir_;
        working_dir_ = normal_path(working_dir_);
        if (own_dir) check_working_dir();
        std::vector<std::string> words = kube::strings_at(*ref_.container, "command");
        written_ = kube::has_words(words);
        // A kind may take `command: [""]` for none.
        if (!written_ && !given_.empty()) words = given_;
        std::size_t of_command = words.size();
        for (std::string& word : kube::strings_at(*ref_.container, "args"))
            words.push_back(std::move(word));
        if (words.empty()) return refuse_no_command();
        if (of_command == 0 && words[0].starts_with('-')) return refuse_options_only(words[0]);
        if (of_command == 0) tell_args_are_the_command();
        program_field_ = ref_.path + (of_command == 0 ? ".args[0]" : ".command[0]");
        if (words[0].find("$(") != std::string::npos) return;  // known only when it starts
        check_tmp(words, of_command);
        std::optional<std::string> program = find_program(words[0]);
        if (program) check_interpreter(*program);
        if (takes_script(words[0])) check_script(words, of_command);
    }

  private:
    void error(const std::string& field, std::string message) {
        problems_.push_back(
            document_.problem(manifest::Severity::kError, field, std::move(message)));
    }

    bool is_mounted(const std::string& path) const {
        return std::ranges::any_of(mounted_,
                                   [&](const std::string& mount) { return is_below(path, mount); });
    }
    /// A pod has its own empty /tmp and /dev/shm, except for the caller's directories.
    bool is_in_own_tmp(const std::string& path) const {
        const auto covers = [&](const std::string& kept) { return is_below(path, kept); };
        return (is_below(path, "/tmp") || is_below(path, "/dev/shm")) &&
               !is_below(path, around_.working_dir) &&
               std::ranges::none_of(around_.kept_below_tmp, covers) && !is_mounted(path) &&
               !around_.mounted(path);
    }

    /// The path on this machine for a path of the container; nullopt if a volume provides it, or
    /// its own /tmp, so that it is known only when the pod runs.
    std::optional<std::string> here(const std::string& path) const {
        if (is_mounted(path) || is_in_own_tmp(path)) return std::nullopt;
        return around_.mounted(path).value_or(path);
    }
    bool missing(const std::string& path) const {
        std::optional<std::string> real = here(path);
        return real && machine_.kind_of(*real) == FileKind::kMissing;
    }
    static std::string mount_hint(const std::string& directory) {
        return fmt::format("images are not pulled, so say where it is with --mount {}=DIR",
                           directory);
    }

    /// Of what the pod starts with and this machine has in its own /tmp. Other containers of the pod
    /// share its /tmp and may make it.
    void check_tmp(const std::vector<std::string>& words, std::size_t of_command) {
        if (manifest::containers(pod_).size() > 1) return;
        const auto path_of = [&](const std::string& word) {
            return normal_path(word.starts_with('/') ? word : working_dir_ + "/" + word);
        };
        if (words[0].find('/') != std::string::npos)
            check_in_tmp(path_of(words[0]), program_field_);
        else if (!words[0].empty())
            check_search_in_tmp(words[0]);
        const std::optional<std::size_t> script =
            takes_script(words[0]) ? script_index(words) : std::nullopt;
        if (script && words[*script].find("$(") == std::string::npos)
            check_in_tmp(path_of(words[*script]), field_of_word(*script, of_command));
    }
    void check_in_tmp(const std::string& path, const std::string& field) {
        if (!is_in_own_tmp(path) || machine_.kind_of(path) == FileKind::kMissing) return;
        with_own_tmp_.push_back(document_.problem(
            manifest::Severity::kError, field,
            fmt::format("{0} is on this machine, but each pod has a {1} of its own and does not "
                        "see it; move it elsewhere, or show its directory with --mount {2}={2}",
                        path, is_below(path, "/tmp") ? "/tmp" : "/dev/shm", parent_of(path))));
    }
    /// A program that PATH has first in /tmp: the pod has another one, or none.
    void check_search_in_tmp(const std::string& name) {
        const std::optional<std::string> path = search_path();
        if (!path) return;
        const std::optional<std::string> hidden =
            first_along(name, *path, [this](const std::string& candidate) {
                return is_in_own_tmp(candidate) ? machine_.kind_of(candidate) == FileKind::kProgram
                                                : may_be_program(candidate);
            });
        if (!hidden || !is_in_own_tmp(*hidden)) return;
        const std::optional<std::string> other =
            first_along(name, *path, [this](const std::string& candidate) {
                return !is_in_own_tmp(candidate) && may_be_program(candidate);
            });
        // An environment is more than its bin.
        std::string directory = parent_of(*hidden);
        if (directory.ends_with("/bin")) directory = parent_of(directory);
        with_own_tmp_.push_back(document_.problem(
            other ? manifest::Severity::kWarning : manifest::Severity::kError, program_field_,
            fmt::format("\"{}\" is {} on this machine, but each pod has a /tmp of its own and {}; "
                        "show the directory with --mount {}={}",
                        name, *hidden, other ? "runs " + *other : "does not find it", directory,
                        directory)));
    }
    bool may_be_program(const std::string& path) const {
        const std::optional<std::string> real = here(path);
        // A volume may provide it.
        return !real || machine_.kind_of(*real) == FileKind::kProgram;
    }
    /// The first file of the name along PATH that `fits`.
    template <class Fits>
    std::optional<std::string> first_along(const std::string& name, std::string_view path,
                                           const Fits& fits) const {
        while (!path.empty()) {
            std::string directory(path.substr(0, path.find(':')));
            path.remove_prefix(std::min(path.size(), directory.size() + 1));
            if (directory.empty()) directory = working_dir_;
            if (!directory.starts_with('/')) directory = working_dir_ + "/" + directory;
            std::string candidate = directory + "/" + name;
            if (fits(normal_path(candidate))) return candidate;
        }
        return std::nullopt;
    }
    std::string field_of_word(std::size_t index, std::size_t of_command) const {
        return index < of_command ? fmt::format("{}.command[{}]", ref_.path, index)
                                  : fmt::format("{}.args[{}]", ref_.path, index - of_command);
    }

    std::string entrypoint_advice() const {
        const std::string_view image = kube::string_at(*ref_.container, "image");
        return image.empty() ? std::string()
                             : fmt::format(", or pass --entrypoint {}=COMMAND",
                                           image.substr(0, image.find('@')));
    }

    void refuse_no_command() {
        const std::string_view image = kube::string_at(*ref_.container, "image");
        error(ref_.path,
              fmt::format("this container has no command, and no image is pulled here{}, so its "
                          "entry point is not known; write it as command: [...]{}",
                          image.empty() ? "" : fmt::format(" ({})", image), entrypoint_advice()));
    }

    /// No program is called like an option: the args are for the image's entry point.
    void refuse_options_only(const std::string& option) {
        error(
            ref_.path,
            fmt::format("this container has no command, and no image is pulled here whose entry "
                        "point could take its args ({} ...); write the program as command: [...]{}",
                        option, entrypoint_advice()));
    }

    void tell_args_are_the_command() {
        problems_.push_back(document_.problem(
            manifest::Severity::kWarning, ref_.path + ".args",
            "this container has no command, and no image is pulled here whose entry point could "
            "take its args: they are run as the command"));
    }

    void check_working_dir() {
        std::optional<std::string> real = here(working_dir_);
        if (!real) return;
        std::string field = ref_.path + ".workingDir";
        FileKind kind = machine_.kind_of(*real);
        if (kind == FileKind::kMissing)
            error(
                field,
                fmt::format(
                    "{} does not exist on this machine; {}, or start elsewhere with --workdir DIR",
                    working_dir_, mount_hint(working_dir_)));
        else if (kind != FileKind::kDirectory)
            error(field, fmt::format("{} is not a directory; start elsewhere with --workdir DIR",
                                     working_dir_));
    }

    /// PATH as the container will have it; nullopt if it comes from elsewhere.
    std::optional<std::string> search_path() const {
        std::optional<std::string> path = around_.path;
        if (kube::array_at(*ref_.container, "envFrom") != nullptr) path = std::nullopt;
        if (const json::array* env = kube::array_at(*ref_.container, "env"))
            for (const json::value& item : *env) {
                if (!item.is_object() || kube::string_at(item.get_object(), "name") != "PATH")
                    continue;
                path = kube::string_at(item.get_object(), "value");
                if (item.get_object().contains("valueFrom") ||
                    path->find("$(") != std::string::npos)
                    path = std::nullopt;
            }
        return path;
    }

    /// The program on this machine; a problem if it is not here.
    std::optional<std::string> find_program(const std::string& name) {
        const std::string& field = program_field_;
        if (name.empty()) {
            error(field, "the program's name is empty");
            return std::nullopt;
        }
        if (name.find('/') != std::string::npos) return check_program_file(name, field);
        std::optional<std::string> path = search_path();
        if (!path) return std::nullopt;
        std::optional<std::string> found = look_along(name, *path);
        if (!found)
            error(field,
                  fmt::format(
                      "the program \"{}\" is not found along PATH ({}); install it, activate the "
                      "environment that has it, or add its directory with --env PATH=DIR:$PATH",
                      name, path->empty() ? "which is empty" : *path));
        return found;
    }

    std::optional<std::string> look_along(const std::string& name, std::string_view path) const {
        return first_along(
            name, path, [this](const std::string& candidate) { return may_be_program(candidate); });
    }

    std::optional<std::string> check_program_file(const std::string& name,
                                                  const std::string& field) {
        std::string path = normal_path(name.starts_with('/') ? name : working_dir_ + "/" + name);
        std::optional<std::string> real = here(path);
        if (!real) return std::nullopt;
        switch (machine_.kind_of(*real)) {
            case FileKind::kProgram:
                return path;
            case FileKind::kMissing:
                error(field, fmt::format("the program {} does not exist on this machine; {}", path,
                                         advice_for_missing(name, path)));
                break;
            case FileKind::kDirectory:
                error(field, fmt::format("{} is a directory, not a program", path));
                break;
            default:
                error(field, fmt::format(
                                 "{} is not executable; chmod +x it, or name its interpreter first",
                                 path));
        }
        return std::nullopt;
    }

    std::string advice_for_missing(const std::string& name, const std::string& path) const {
        if (path.ends_with("/sshd"))
            return written_ ? "install OpenSSH's server, or leave this command out, if it is that "
                              "of an MPIJob's worker: they are reached without it, too"
                            : "install OpenSSH's server";
        return name.starts_with('/') ? mount_hint(parent_of(path))
                                     : "start where it is, with --workdir DIR";
    }

    void check_interpreter(const std::string& program) {
        std::optional<std::string> real = here(normal_path(program));
        std::string line = real ? machine_.first_line(*real) : std::string();
        if (!line.starts_with("#!")) return;
        std::size_t start = line.find_first_not_of(" \t", 2);
        if (start == std::string::npos) return;
        std::string interpreter = line.substr(start, line.find_first_of(" \t\r", start) - start);
        const std::string& field = program_field_;
        if (missing(normal_path(interpreter)))
            return error(
                field,
                fmt::format("{} wants the interpreter {}, which does not exist on this machine; "
                            "install it, or name another one first in command",
                            program, interpreter));
        if (!interpreter.ends_with("/env")) return;
        std::size_t next = line.find_first_not_of(" \t", start + interpreter.size());
        if (next == std::string::npos) return;
        std::string name = line.substr(next, line.find_first_of(" \t\r", next) - next);
        std::optional<std::string> path = search_path();
        if (name.starts_with('-') || name.find('=') != std::string::npos || !path) return;
        if (!look_along(name, *path))
            error(field, fmt::format("{} wants the interpreter \"{}\", which is not found along "
                                     "PATH ({}); install it, "
                                     "or name another one first in command",
                                     program, name, *path));
    }

    void check_script(const std::vector<std::string>& words, std::size_t of_command) {
        std::optional<std::size_t> index = script_index(words);
        if (!index || words[*index].find("$(") != std::string::npos) return;
        // An init container may make it.
        if (!ref_.init && kube::array_at(*pod_.spec, "initContainers") != nullptr) return;
        const std::string& script = words[*index];
        std::string path =
            normal_path(script.starts_with('/') ? script : working_dir_ + "/" + script);
        if (!missing(path)) return;
        error(field_of_word(*index, of_command),
              script.starts_with('/')
                  ? fmt::format("{} does not exist on this machine; {}", path,
                                mount_hint(parent_of(path)))
                  : fmt::format("{} does not exist in {}; start where it is, with --workdir DIR",
                                script, working_dir_));
    }

    const manifest::Document& document_;
    const manifest::PodSpecRef& pod_;
    const manifest::ContainerRef& ref_;
    std::vector<std::string> given_;
    const control_plane::Machine& machine_;
    const Surroundings& around_;
    std::vector<manifest::Problem>& problems_;
    std::vector<manifest::Problem>& with_own_tmp_;
    std::vector<std::string> mounted_;
    std::string working_dir_;
    std::string program_field_;  ///< the field that names the program
    bool written_ = false;       ///< whether the manifest has the command
};

}  // namespace

void check_container(const manifest::Document& document, const manifest::PodSpecRef& pod,
                     const manifest::ContainerRef& ref, const kube::Container* made,
                     const std::vector<MountPoint>& mounts, const control_plane::Machine& machine,
                     const Surroundings& around, MachineProblems& found) {
    ContainerCheck(document, pod, ref, made, mounts, machine, around, found).run();
}

}  // namespace muster::cli
