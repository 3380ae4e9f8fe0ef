#include "runtime/internal/limits/identity.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>

#include "kube/objects/codec_impl.h"

namespace muster::runtime {

namespace {

struct AddedDropped {
    std::vector<std::string> add;
    std::vector<std::string> drop;
};
BOOST_DESCRIBE_STRUCT(AddedDropped, (), (add, drop))

struct Profile {
    std::string type;
};
BOOST_DESCRIBE_STRUCT(Profile, (), (type))

struct NameValue {
    std::string name;
    std::string value;
};
BOOST_DESCRIBE_STRUCT(NameValue, (), (name, value))

/// The fields of a pod's and of a container's securityContext together.
struct SecurityContext {
    std::optional<std::int64_t> run_as_user;
    std::optional<std::int64_t> run_as_group;
    std::optional<bool> run_as_non_root;
    std::vector<std::int64_t> supplemental_groups;
    std::string supplemental_groups_policy;
    std::optional<std::int64_t> fs_group;
    std::string fs_group_change_policy;
    std::vector<NameValue> sysctls;
    std::optional<AddedDropped> capabilities;
    std::optional<bool> privileged;
    std::optional<bool> allow_privilege_escalation;
    std::optional<bool> read_only_root_filesystem;
    std::string proc_mount;
    std::optional<Profile> seccomp_profile;
    std::optional<Profile> app_armor_profile;
    json::object rest;  ///< seLinuxOptions, windowsOptions, and newer fields
};
BOOST_DESCRIBE_STRUCT(SecurityContext, (),
                      (run_as_user, run_as_group, run_as_non_root, supplemental_groups,
                       supplemental_groups_policy, fs_group, fs_group_change_policy, sysctls,
                       capabilities, privileged, allow_privilege_escalation,
                       read_only_root_filesystem, proc_mount, seccomp_profile, app_armor_profile,
                       rest))

Result<SecurityContext> context_in(const json::object& rest) {
    const json::value* value = rest.if_contains("securityContext");
    if (value == nullptr || value->is_null()) return SecurityContext{};
    auto context = kube::decode<SecurityContext>(*value);
    if (context) return context;
    Error error = std::move(context.error());
    return error.prefix("securityContext");
}

/// Confining profiles are not applied; a request for none is honoured.
void note_profiles(const SecurityContext& context, std::string_view prefix,
                   std::vector<std::string>& notes) {
    auto note = [&](const std::optional<Profile>& profile, const char* field) {
        if (profile && profile->type != "Unconfined")
            notes.push_back(fmt::format("{}.{}", prefix, field));
    };
    note(context.seccomp_profile, "seccompProfile");
    note(context.app_armor_profile, "appArmorProfile");
    for (const auto& [key, value] : context.rest)
        if (!value.is_null()) notes.push_back(fmt::format("{}.{}", prefix, std::string(key)));
}

/// Those of a namespace of the pod (upstream: kubelet's pkg/kubelet/sysctl).
bool is_of_the_pod(std::string_view name) {
    constexpr std::array<std::string_view, 3> kPrefixes = {"kernel.shm", "kernel.msg",
                                                           "fs.mqueue."};
    return name.starts_with("net.") || name == "kernel.sem" ||
           std::ranges::any_of(kPrefixes, [&](std::string_view p) { return name.starts_with(p); });
}

std::string file_text(const char* path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

bool has_group(const Caller& caller, std::uint32_t gid) {
    return gid == caller.gid || std::ranges::find(caller.groups, gid) != caller.groups.end();
}

Result<pod_init::Capabilities> capabilities_in(const std::vector<std::string>& names) {
    pod_init::Capabilities sum = 0;
    for (const std::string& name : names) {
        const pod_init::Capabilities found = pod_init::capabilities_named(name);
        if (found == 0)
            return Error(Code::kInvalid, fmt::format("unknown capability \"{}\"", name));
        sum |= found;
    }
    return sum;
}

/// "ALL" is applied first and single names after it, so that dropping ALL and adding one leaves
/// that one.
Result<pod_init::Capabilities> capabilities_after(const AddedDropped& changes) {
    constexpr pod_init::Capabilities kAll = ~pod_init::Capabilities{0};
    TRY(const pod_init::Capabilities added, capabilities_in(changes.add));
    TRY(const pod_init::Capabilities dropped, capabilities_in(changes.drop));
    pod_init::Capabilities set = pod_init::default_capabilities();
    if (added == kAll) set = added;
    if (dropped == kAll) set = 0;
    if (added != kAll) set |= added;
    if (dropped != kAll) set &= ~dropped;
    return set;
}

/// The combined effect of a container's and its pod's securityContext.
class ContainerSecurityPlan {
  public:
    ContainerSecurityPlan(const SecurityContext& of_pod, const SecurityContext& own,
                          const Caller& caller)
        : of_pod_(of_pod), own_(own), caller_(caller) {}

    Result<ContainerSecurity> make() {
        TRY_VOID(plan_user());
        TRY_VOID(plan_capabilities());
        security_.identity.no_new_privileges = !own_.allow_privilege_escalation.value_or(true);
        security_.unmasked_proc = own_.proc_mount == "Unmasked";
        security_.read_only_root = own_.read_only_root_filesystem.value_or(false);
        note_profiles(own_, "securityContext", security_.not_honoured);
        return std::move(security_);
    }

  private:
    static constexpr const char* kOneUser = "an ordinary user can run pods only as itself";
    static constexpr const char* kNotRoot = "muster does not run as root";

    void give_up(std::string_view field, std::string_view why) {
        security_.not_honoured.push_back(fmt::format("securityContext.{} ({})", field, why));
    }

    Result<void> plan_user() {
        const auto user = own_.run_as_user ? own_.run_as_user : of_pod_.run_as_user;
        const auto group = own_.run_as_group ? own_.run_as_group : of_pod_.run_as_group;
        auto uid = static_cast<std::uint32_t>(user.value_or(caller_.uid));
        if (needs_non_root() && uid == 0)
            return Error(Code::kInvalid,
                         user ? "container's runAsUser breaks non-root policy"
                              : "container has runAsNonRoot and image will run as root: here it "
                                "runs as the user who started muster. Set runAsUser");
        if (uid != caller_.uid && !caller_.may_change()) {
            give_up("runAsUser", kOneUser);
            uid = caller_.uid;
        }
        const std::optional<Account> account = find_account(caller_.passwd, caller_.group, uid);
        const bool more_groups = !of_pod_.supplemental_groups.empty() || of_pod_.fs_group;
        if (!caller_.may_change())
            give_up_groups(group);
        else if (user || group || more_groups)
            become(uid, group, account);
        if (uid != caller_.uid)
            security_.account =
                account.value_or(Account{.name = {}, .gid = 0, .home = "/", .groups = {}});
        return {};
    }

    bool needs_non_root() const {
        return own_.run_as_non_root ? *own_.run_as_non_root
                                    : of_pod_.run_as_non_root.value_or(false);
    }

    void become(std::uint32_t uid, std::optional<std::int64_t> group,
                const std::optional<Account>& account) {
        pod_init::Identity& identity = security_.identity;
        identity.uid = uid;
        identity.gid = group ? static_cast<std::uint32_t>(*group) : (account ? account->gid : 0);
        std::vector<std::uint32_t> groups;
        if (account && of_pod_.supplemental_groups_policy != "Strict") groups = account->groups;
        for (const std::int64_t more : of_pod_.supplemental_groups)
            groups.push_back(static_cast<std::uint32_t>(more));
        if (of_pod_.fs_group) groups.push_back(static_cast<std::uint32_t>(*of_pod_.fs_group));
        std::ranges::sort(groups);
        groups.erase(std::ranges::unique(groups).begin(), groups.end());
        identity.groups = std::move(groups);
    }

    void give_up_groups(std::optional<std::int64_t> wanted) {
        if (wanted && static_cast<std::uint32_t>(*wanted) != caller_.gid)
            give_up("runAsGroup", kOneUser);
        for (const std::int64_t group : of_pod_.supplemental_groups)
            if (!has_group(caller_, static_cast<std::uint32_t>(group)))
                give_up("supplementalGroups", kOneUser);
    }

    Result<void> plan_capabilities() {
        const bool privileged = own_.privileged.value_or(false);
        const AddedDropped changes = own_.capabilities.value_or(AddedDropped{});
        if (!caller_.may_change()) {
            if (privileged) give_up("privileged", kNotRoot);
            if (!changes.add.empty()) give_up("capabilities.add", kNotRoot);
            return {};
        }
        security_.privileged = privileged;
        if (privileged) return {};
        TRY(security_.identity.capabilities, capabilities_after(changes));
        return {};
    }

    const SecurityContext& of_pod_;
    const SecurityContext& own_;
    const Caller& caller_;
    ContainerSecurity security_;
};

}  // namespace

Caller caller_of_this_process() {
    Caller caller;
    caller.uid = ::geteuid();
    caller.gid = ::getegid();
    if (const int count = ::getgroups(0, nullptr); count > 0) {
        caller.groups.resize(static_cast<std::size_t>(count));
        if (::getgroups(count, caller.groups.data()) < 0) caller.groups.clear();
    }
    caller.passwd = file_text("/etc/passwd");
    caller.group = file_text("/etc/group");
    return caller;
}

Result<PodSecurity> plan_pod_security(const kube::Pod& pod, const Caller& caller) {
    TRY(const SecurityContext context, context_in(pod.spec.rest));
    PodSecurity security;
    const std::string_view prefix = "spec.securityContext";
    if (context.fs_group) {
        const auto gid = static_cast<std::uint32_t>(*context.fs_group);
        if (caller.may_change() || gid == caller.gid)
            security.fs_group = gid;
        else
            security.not_honoured.push_back(
                fmt::format("{}.fsGroup (only root can give files to another group)", prefix));
    }
    for (const NameValue& sysctl : context.sysctls) {
        std::string name = sysctl.name;
        std::ranges::replace(name, '/', '.');
        if (!is_of_the_pod(name) || name.find("..") != name.npos)
            return Error(
                Code::kUnsupported,
                fmt::format("forbidden sysctl: {} is not the pod's own but the machine's: set it "
                            "on the machine, and remove it from the pod",
                            sysctl.name));
        security.sysctls.push_back({std::move(name), sysctl.value});
    }
    note_profiles(context, prefix, security.not_honoured);
    return security;
}

Result<ContainerSecurity> plan_container_security(const kube::Pod& pod,
                                                  const kube::Container& container,
                                                  const Caller& caller) {
    TRY(const SecurityContext of_pod, context_in(pod.spec.rest));
    TRY(const SecurityContext own, context_in(container.rest));
    return ContainerSecurityPlan(of_pod, own, caller).make();
}

std::vector<std::string> environment_of(const ContainerSecurity& security, const Caller& caller,
                                        std::vector<std::string> environment) {
    if (!security.account || security.identity.uid.value_or(caller.uid) == caller.uid)
        return environment;
    std::erase_if(environment, [](const std::string& entry) {
        return entry.starts_with("HOME=") || entry.starts_with("USER=") ||
               entry.starts_with("LOGNAME=");
    });
    environment.push_back("HOME=" + security.account->home);
    return environment;
}

}  // namespace muster::runtime
