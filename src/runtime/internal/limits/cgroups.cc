#include "runtime/internal/limits/cgroups.h"

#include <unistd.h>

#include <algorithm>

#include "base/fields.h"
#include "base/log.h"
#include "base/parse_number.h"
#include "base/text_files.h"
#include "runtime/internal/limits/subtree_control.h"

namespace muster::runtime {

namespace {

constexpr std::string_view kNodeGroup = "muster-";
constexpr std::string_view kOutlivingGroup = "muster-up-";
constexpr const char* kAside = "-self";
constexpr std::string_view kDaemonGroup = "/muster-daemon";

std::string text_of(const char* path) {
    auto text = read_text(path);
    return text ? *std::move(text) : std::string();
}

std::int64_t number_of(const char* path, std::int64_t otherwise) {
    return leading_number<std::int64_t>(text_of(path)).value_or(otherwise);
}

std::string below(const std::string& group, std::string_view name) {
    return fmt::format("{}/{}", group, name);
}

/// The trees, with the group in each that this process may divide.
std::vector<process::CgroupHierarchy> trees_of(const Cgroups::Place& place) {
    auto trees = process::find_cgroup_hierarchies(place.mountinfo, place.own_groups);
    for (process::CgroupHierarchy& tree : trees)
        if (Cgroups::is_beside(tree)) tree.own.resize(tree.own.size() - kDaemonGroup.size());
    return trees;
}

void warn(const Result<void>& done) {
    if (!done) log::warning("a cgroup stays behind", {{"error", done.error().message()}});
}

}  // namespace

// --- one container, one pod

ContainerCgroup::~ContainerCgroup() {
    for (const Group& group : groups_) warn(remove_cgroup_tree(*files_, group.path));
}

Result<std::vector<UniqueFd>> ContainerCgroup::open() const {
    std::vector<UniqueFd> directories;
    for (const Group& group : groups_) {
        TRY(UniqueFd directory, files_->open(group.path));
        directories.push_back(std::move(directory));
    }
    return directories;
}

std::int64_t ContainerCgroup::oom_kills() const {
    for (const Group& group : groups_) {
        if (!group.memory) continue;
        const bool v1 = group.version == CgroupVersion::kV1;
        const auto text = files_->read(group.path, v1 ? "memory.oom_control" : "memory.events");
        return text ? process::oom_kills(*text) : 0;
    }
    return 0;
}

Result<std::unique_ptr<OomNotices>> ContainerCgroup::oom_notices(
    asio::any_io_executor executor) const {
    for (const Group& group : groups_) {
        if (!group.memory) continue;
        TRY(UniqueFd descriptor, files_->open_oom_notices(group.path, group.version));
        return std::make_unique<OomNotices>(std::move(executor), std::move(descriptor),
                                            group.version);
    }
    return nullptr;
}

PodCgroup::~PodCgroup() {
    for (const Cgroups::Tree& tree : node_->trees_)
        warn(remove_cgroup_tree(*files_, below(tree.group, name_)));
}

Result<std::unique_ptr<ContainerCgroup>> PodCgroup::make_container(
    const std::string& name, const ContainerLimits& limits) const {
    std::vector<ContainerCgroup::Group> groups;
    for (const Cgroups::Tree& tree : node_->trees_)
        groups.push_back({below(below(tree.group, name_), name), tree.version,
                          tree.controllers.contains(Controller::kMemory)});
    auto made = std::make_unique<ContainerCgroup>(*files_, groups);
    for (std::size_t i = 0; i < groups.size(); ++i) {
        const Cgroups::Tree& tree = node_->trees_[i];
        TRY_VOID(
            node_->set_up(tree, groups[i].path, container_settings(limits, tree.version), false));
    }
    return made;
}

// --- the node

std::string node_group_name(const std::filesystem::path& state_dir, bool outlives) {
    // FNV-1a: the same in every build, as std::hash need not be.
    std::uint64_t hash = 14695981039346656037u;
    for (const char c : state_dir.native())
        hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
    return fmt::format("{}{:016x}", outlives ? kOutlivingGroup : kNodeGroup, hash);
}

bool is_node_group_name(std::string_view name, bool outlives) {
    constexpr std::size_t kDigits = 16;
    const std::string_view prefix = outlives ? kOutlivingGroup : kNodeGroup;
    if (name.ends_with(kAside)) name.remove_suffix(std::string_view(kAside).size());
    return name.size() == prefix.size() + kDigits && name.starts_with(prefix) &&
           name.find_first_not_of("0123456789abcdef", prefix.size()) == name.npos;
}

Cgroups::Place Cgroups::place_of_this_process() {
    constexpr std::int64_t kUsualPidMax = 32'768;
    return {.mountinfo = text_of("/proc/self/mountinfo"),
            .own_groups = text_of("/proc/self/cgroup"),
            .pid_max = number_of("/proc/sys/kernel/pid_max", kUsualPidMax),
            .threads_max = number_of("/proc/sys/kernel/threads-max", kUsualPidMax),
            .cpus = ::sysconf(_SC_NPROCESSORS_ONLN),
            .root = ::geteuid() == 0};
}

bool Cgroups::is_beside(const process::CgroupHierarchy& hierarchy) {
    return hierarchy.version == CgroupVersion::kV2 &&
           hierarchy.own.size() > hierarchy.root.size() + kDaemonGroup.size() &&
           hierarchy.own.ends_with(kDaemonGroup);
}

std::string Cgroups::daemon_group(const std::string& group) {
    return fmt::format("{}{}", group, kDaemonGroup);
}

std::vector<std::string> Cgroups::possible_groups(const Place& place, const std::string& name) {
    std::vector<std::string> groups;
    for (const process::CgroupHierarchy& hierarchy : trees_of(place)) {
        groups.push_back(below(hierarchy.own, name));
        if (hierarchy.version != CgroupVersion::kV2) continue;
        groups.push_back(below(hierarchy.own, name + kAside));
        if (hierarchy.root != hierarchy.own) groups.push_back(below(hierarchy.root, name));
    }
    return groups;
}

Cgroups Cgroups::create(CgroupFiles& files, const Place& place, const std::string& name,
                        std::int64_t pids_per_pod) {
    Cgroups cgroups{std::string()};
    cgroups.files_ = &files;
    cgroups.companion_ = place.companion;
    cgroups.pids_ = default_pid_limits(place.pid_max, place.threads_max);
    cgroups.cpus_ = place.cpus;
    if (pids_per_pod > 0) cgroups.pids_.pod = pids_per_pod;
    cgroups.beside_ = std::ranges::any_of(
        process::find_cgroup_hierarchies(place.mountinfo, place.own_groups), is_beside);
    const auto hierarchies = trees_of(place);
    for (const process::CgroupHierarchy& hierarchy : hierarchies)
        if (hierarchy.version == CgroupVersion::kV1) cgroups.take_v1(hierarchy, name);
    for (const process::CgroupHierarchy& hierarchy : hierarchies)
        if (hierarchy.version == CgroupVersion::kV2) cgroups.take_v2(hierarchy, name, place.root);
    cgroups.explain(place.root);
    return cgroups;
}

Cgroups::~Cgroups() { warn(remove()); }

bool Cgroups::enforces(Controller controller) const {
    return std::ranges::any_of(
        trees_, [&](const Tree& tree) { return tree.controllers.contains(controller); });
}

Result<void> Cgroups::keep(Tree tree) {
    TRY(UniqueFd claim, files_->claim(tree.group));
    // Together the pods get the share of all processors, whatever else the machine does.
    TRY_VOID(set_up(tree, tree.group, pod_settings(cpus_ * 1000, pids_.node, tree.version), false));
    if (tree.version == CgroupVersion::kV2)
        TRY_VOID(files_->write(tree.group, kSubtree, switches(tree.controllers, '+')));
    claims_.push_back({tree.group, std::move(claim)});
    trees_.push_back(std::move(tree));
    return {};
}

/// Takes over a group left by a crash; one of another muster, which `use` refuses, stays.
template <class Use>
Result<void> Cgroups::with_group(const std::string& group, Use use) {
    auto made = files_->make(group);
    if (!made && made.error().code() != Code::kAlreadyExists) return made;
    auto done = use();
    if (!done && made) warn(files_->remove(group));
    return done;
}

void Cgroups::take_v1(const process::CgroupHierarchy& hierarchy, const std::string& name) {
    const std::string group = below(hierarchy.own, name);
    auto done =
        with_group(group, [&] { return keep({CgroupVersion::kV1, hierarchy.controllers, group}); });
    if (!done) problem_ = done.error().message();
}

void Cgroups::take_v2(const process::CgroupHierarchy& hierarchy, const std::string& name,
                      bool root) {
    std::set<Controller> wanted;
    for (const Controller controller : kControllers)
        if (!enforces(controller)) wanted.insert(controller);
    if (wanted.empty()) return;
    auto done = take_below(hierarchy.own, hierarchy, name, wanted);
    // The root is the only group that may have both processes and limited groups; it may where our
    // own may not.
    if (!done && root && hierarchy.own != hierarchy.root)
        done = take_below(hierarchy.root, hierarchy, name, wanted);
    if (!done) problem_ = done.error().message();
}

Result<void> Cgroups::take_below(const std::string& parent,
                                 const process::CgroupHierarchy& hierarchy, const std::string& name,
                                 const std::set<Controller>& wanted) {
    TRY(const std::string available, files_->read(parent, "cgroup.controllers"));
    const std::set<Controller> usable = without(wanted, without(wanted, listed(available)));
    if (usable.empty())
        return Error(Code::kUnsupported,
                     fmt::format("the cgroup {} is given no controllers for {}", parent,
                                 fmt::to_string(switches(wanted, ' '))));
    const std::string group = below(parent, name);
    return with_group(group, [&]() -> Result<void> {
        TRY(const std::string enabled, files_->read(parent, kSubtree));
        const std::set<Controller> missing = without(usable, listed(enabled));
        if (!missing.empty()) TRY_VOID(enable_below(parent, hierarchy, name, missing));
        return keep({CgroupVersion::kV2, usable, group});
    });
}

Result<void> Cgroups::enable_below(const std::string& parent,
                                   const process::CgroupHierarchy& hierarchy,
                                   const std::string& name, const std::set<Controller>& missing) {
    const std::string plus = switches(missing, '+');
    auto done = files_->write(parent, kSubtree, plus);
    if (done || parent != hierarchy.own || beside_) return done;
    // A group that limits those below it can't have processes of its own: we move, if we are alone.
    const std::string aside = below(parent, name + kAside);
    auto moved = files_->make(aside);
    if (!moved && moved.error().code() != Code::kAlreadyExists) return done;
    moved = move_us(aside);
    if (moved) {
        done = files_->write(parent, kSubtree, plus);
        if (done) {
            TRY(UniqueFd lock, files_->claim(aside));
            moves_.push_back({parent, aside, missing});
            claims_.push_back({aside, std::move(lock)});
            return {};
        }
        warn(move_us(parent));
    }
    warn(files_->remove(aside));
    return done;
}

Result<void> Cgroups::move_us(const std::string& group) {
    TRY_VOID(files_->write(group, kProcesses, "0"));
    if (companion_ == 0) return {};
    return files_->write(group, kProcesses, std::to_string(companion_));
}

void Cgroups::explain(bool root) {
    std::string missing;
    for (const Controller controller : kControllers)
        if (!enforces(controller))
            missing += fmt::format("{}{}", missing.empty() ? "" : ", ", to_string(controller));
    if (missing.empty()) return;
    obstacle_ = fmt::format(
        "muster can't limit {} on this machine ({}). To have limits enforced, start it with "
        "systemd-run {}--scope -p Delegate=yes muster ...{}",
        missing, problem_.empty() ? "no tree of cgroups with it is mounted" : problem_,
        root ? "" : "--user ", root ? "" : ", or as root");
}

Result<void> Cgroups::set_up(const Tree& tree, const std::string& group,
                             const std::vector<CgroupSetting>& settings,
                             bool has_groups_below) const {
    auto made = files_->make(group);
    if (!made && made.error().code() != Code::kAlreadyExists) return made;
    for (const CgroupSetting& setting : settings) {
        if (!tree.controllers.contains(setting.controller)) continue;
        auto written = files_->write(group, setting.file, setting.value);
        if (!written && (setting.required || written.error().code() != Code::kNotFound))
            return written;
    }
    if (has_groups_below && tree.version == CgroupVersion::kV2)
        return files_->write(group, kSubtree, switches(tree.controllers, '+'));
    return {};
}

Result<std::unique_ptr<PodCgroup>> Cgroups::make_pod(const std::string& name,
                                                     std::int64_t cpu_request_milli) const {
    auto pod = std::make_unique<PodCgroup>(*files_, *this, name);
    for (const Tree& tree : trees_)
        TRY_VOID(set_up(tree, below(tree.group, name),
                        pod_settings(cpu_request_milli, pids_.pod, tree.version), true));
    return pod;
}

void Cgroups::keep_only(const std::set<std::string>& pods) {
    for (const Tree& tree : trees_) {
        auto groups = files_->children(tree.group);
        if (!groups) continue;
        for (const std::string& name : *groups)
            if (!pods.contains(name)) warn(remove_cgroup_tree(*files_, below(tree.group, name)));
    }
}

Result<void> Cgroups::remove() {
    Result<void> result;
    auto note = [&result](Result<void> done) {
        if (!done && result) result = std::move(done);
    };
    for (const Tree& tree : trees_) note(remove_cgroup_tree(*files_, tree.group));
    trees_.clear();
    for (const Move& move : moves_) {
        note(files_->write(move.from, kSubtree, switches(move.enabled, '-')));
        note(files_->write(move.from, kProcesses, "0"));
        // And processes that we have started since.
        auto others = files_->read(move.to, kProcesses);
        for (std::string_view left = others ? *others : std::string_view(); !left.empty();) {
            const std::string_view process = take_field(left, '\n');
            if (!process.empty()) note(files_->write(move.from, kProcesses, process));
        }
        note(remove_cgroup_tree(*files_, move.to));
    }
    moves_.clear();
    claims_.clear();
    return result;
}

namespace {

/// Visits all containers, each with its path: "spec.containers[0]".
template <class Visit>
void each_container(const kube::Pod& pod, Visit visit) {
    const auto all = [&](const std::vector<kube::Container>& containers, std::string_view list) {
        for (std::size_t i = 0; i < containers.size(); ++i)
            visit(containers[i], fmt::format("spec.{}[{}]", list, i));
    };
    all(pod.spec.init_containers, "initContainers");
    all(pod.spec.containers, "containers");
}

}  // namespace

std::vector<std::string> limits_without_cgroup(const kube::Pod& pod) {
    std::vector<std::string> fields;
    each_container(pod, [&](const kube::Container& container, const std::string& path) {
        for (const auto& [name, amount] : container.resources.limits)
            if (name == "ephemeral-storage" || name.starts_with("hugepages-"))
                fields.push_back(
                    fmt::format("{}.resources.limits[{}] (counted when pods are placed, and not "
                                "while they run)",
                                path, name));
    });
    return fields;
}

std::vector<std::string> limits_not_enforced(const kube::Pod& pod, const Cgroups& cgroups) {
    std::vector<std::string> fields;
    each_container(pod, [&](const kube::Container& container, const std::string& path) {
        for (const Controller controller : {Controller::kMemory, Controller::kCpu}) {
            const std::string name(to_string(controller));
            if (container.resources.limits.contains(name) && !cgroups.enforces(controller))
                fields.push_back(fmt::format("{}.resources.limits.{}", path, name));
        }
    });
    return fields;
}

}  // namespace muster::runtime
