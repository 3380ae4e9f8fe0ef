#pragma once

#include <fmt/format.h>

#include <cerrno>
#include <map>
#include <set>
#include <string>

#include "runtime/internal/limits/cgroup_files.h"
#include "runtime/internal/limits/cgroup_limits.h"

namespace muster::runtime {

/// A version 2 tree in memory, as strict as the kernel's: files of a controller exist only if the
/// parent has enabled it, a group that enables one has no processes of its own, a controller that
/// is enabled one level down can't be disabled, and only an empty group can be removed. One process acts, and others are put into groups.
class FakeCgroupFiles final : public CgroupFiles {
  public:
    struct Group {
        std::map<std::string, std::string, std::less<>> files;
        std::set<Controller> available;
        std::set<Controller> enabled;
        int others = 0;  ///< processes besides the acting one
        bool writable = true;
    };

    explicit FakeCgroupFiles(std::string root) : root_(std::move(root)) {
        Group& top = groups[root_];
        top.available = {Controller::kMemory, Controller::kCpu, Controller::kPids};
        at = root_;
    }

    /// A group that another process made.
    Group& add(const std::string& path, bool writable) {
        auto made = make_unchecked(path);
        made->writable = writable;
        return *made;
    }
    void enable(const std::string& path, std::set<Controller> controllers) {
        groups.at(path).enabled = std::move(controllers);
        refresh(path);
    }
    std::string value(const std::string& group, const std::string& file) const {
        const auto found = groups.find(group);
        if (found == groups.end()) return "no group";
        const auto entry = found->second.files.find(file);
        return entry == found->second.files.end() ? "no file" : entry->second;
    }

    Result<void> make(const std::string& group) override {
        if (groups.contains(group)) return system_error("mkdir " + group, EEXIST);
        const auto parent = groups.find(parent_of(group));
        if (parent == groups.end()) return system_error("mkdir " + group, ENOENT);
        if (!parent->second.writable) return system_error("mkdir " + group, EACCES);
        make_unchecked(group);
        return {};
    }
    Result<void> remove(const std::string& group) override {
        const auto found = groups.find(group);
        if (found == groups.end()) return system_error("rmdir " + group, ENOENT);
        if (!names_below(group).empty() || processes(group) > 0)
            return system_error("rmdir " + group, EBUSY);
        groups.erase(found);
        return {};
    }
    Result<void> write(const std::string& group, std::string_view file,
                       std::string_view value) override {
        const auto found = groups.find(group);
        if (found == groups.end()) return system_error("open " + group, ENOENT);
        Group& to = found->second;
        if (!to.writable) return system_error("open " + group, EACCES);
        if (file == "cgroup.procs") {
            if (!to.enabled.empty() && group != root_) return system_error("move", EBUSY);
            if (value == "0") {
                at = group;
            } else {
                for (auto& [path, other] : groups)
                    if (!names_of_others(path).empty() && names_of_others(path)[0] == value)
                        other.others -= 1;
                to.others += 1;
            }
            return {};
        }
        if (file == "cgroup.subtree_control") return control(group, to, value);
        const auto entry = to.files.find(file);
        if (entry == to.files.end())
            return system_error(fmt::format("open {}/{}", group, file), ENOENT);
        entry->second = value;
        return {};
    }
    Result<std::string> read(const std::string& group, std::string_view file) override {
        const auto found = groups.find(group);
        if (found == groups.end()) return system_error("open " + group, ENOENT);
        if (file == "cgroup.procs") {
            std::string text;
            for (const std::string& name : names_of_others(group)) text += name + "\n";
            return text;
        }
        if (file == "cgroup.controllers") return list(found->second.available);
        if (file == "cgroup.subtree_control") return list(found->second.enabled);
        const auto entry = found->second.files.find(file);
        if (entry == found->second.files.end())
            return system_error(fmt::format("open {}/{}", group, file), ENOENT);
        return entry->second;
    }
    Result<UniqueFd> open(const std::string& group) override {
        if (!groups.contains(group)) return system_error("open " + group, ENOENT);
        opened.push_back(group);
        return UniqueFd();
    }
    Result<UniqueFd> claim(const std::string& group) override {
        if (!claimed.insert(group).second) return Error(Code::kConflict, group + " is claimed");
        return UniqueFd();
    }
    Result<UniqueFd> open_oom_notices(const std::string& group, process::CgroupVersion) override {
        return system_error("open " + group, ENOENT);
    }
    Result<std::vector<std::string>> children(const std::string& group) override {
        if (!groups.contains(group)) return system_error("opendir " + group, ENOENT);
        return names_below(group);
    }

    std::map<std::string, Group> groups;
    std::string at;  ///< the group of the acting process
    std::set<std::string> claimed;
    std::vector<std::string> opened;

  private:
    static std::string parent_of(const std::string& group) {
        return group.substr(0, group.rfind('/'));
    }
    static std::string list(const std::set<Controller>& controllers) {
        std::string text;
        for (const Controller controller : controllers)
            text += fmt::format("{}{}", text.empty() ? "" : " ", to_string(controller));
        return text + "\n";
    }
    std::vector<std::string> names_below(const std::string& group) const {
        std::vector<std::string> names;
        for (const auto& [path, unused] : groups)
            if (path != root_ && parent_of(path) == group)
                names.push_back(path.substr(group.size() + 1));
        return names;
    }
    /// Processes other than the acting one have the numbers 100, 101, ... in each group.
    std::vector<std::string> names_of_others(const std::string& group) const {
        std::vector<std::string> names;
        for (int i = 0; i < groups.at(group).others; ++i) names.push_back(std::to_string(100 + i));
        return names;
    }
    int processes(const std::string& group) const {
        return groups.at(group).others + (at == group ? 1 : 0);
    }
    Group* make_unchecked(const std::string& group) {
        Group* made = &groups[group];
        refresh(parent_of(group));
        return made;
    }
    /// The groups below have the files of the controllers that `group` enables, and no others.
    void refresh(const std::string& group) {
        for (const std::string& name : names_below(group)) {
            Group& child = groups.at(group + "/" + name);
            child.available = groups.at(group).enabled;
            std::map<std::string, std::string, std::less<>> files;
            auto give = [&](const char* file, const char* value) {
                const auto had = child.files.find(file);
                files[file] = had == child.files.end() ? value : had->second;
            };
            if (child.available.contains(Controller::kMemory)) {
                give("memory.max", "max");
                give("memory.oom.group", "0");
                give("memory.events", "low 0\nhigh 0\nmax 0\noom 0\noom_kill 0\n");
            }
            if (child.available.contains(Controller::kCpu)) {
                give("cpu.max", "max 100000");
                give("cpu.weight", "100");
            }
            if (child.available.contains(Controller::kPids)) give("pids.max", "max");
            child.files = std::move(files);
        }
    }
    Result<void> control(const std::string& group, Group& to, std::string_view value) {
        std::set<Controller> after = to.enabled;
        for (const Controller controller : kControllers) {
            const std::size_t where = value.find(to_string(controller));
            if (where == value.npos || where == 0) continue;
            if (value[where - 1] == '-') {
                for (const std::string& child : names_below(group))
                    if (groups.at(group + "/" + child).enabled.contains(controller))
                        return system_error(fmt::format("writing to {}", group), EBUSY);
                after.erase(controller);
                continue;
            }
            if (!to.available.contains(controller)) return system_error("enable", ENOENT);
            after.insert(controller);
        }
        if (!after.empty() && group != root_ && processes(group) > 0)
            return system_error(fmt::format("writing to {}", group), EBUSY);
        to.enabled = std::move(after);
        refresh(group);
        return {};
    }

    std::string root_;
};

}  // namespace muster::runtime
