#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "kube/values/namespaced_name.h"

namespace muster::runtime {

/// The fields from which the names of a pod or a service follow.
struct NamedPod {
    std::string namespace_;
    std::string name;
    std::string hostname;   ///< spec.hostname, or empty
    std::string subdomain;  ///< spec.subdomain, or empty
    std::string owner_uid;  ///< of the controller; may be empty
    std::map<std::string, std::string> labels;
    std::vector<std::pair<std::string, std::vector<std::string>>> host_aliases;

    friend bool operator==(const NamedPod&, const NamedPod&) = default;
};

struct NamedService {
    std::string namespace_;
    std::string name;
    std::string owner_uid;
    std::map<std::string, std::string> selector;

    friend bool operator==(const NamedService&, const NamedService&) = default;
};

/// The address of each pod, and the addresses of each name. A name gets its address as soon as a
/// pod or a service of that name is seen, so that it resolves before the pod runs. Pure.
class NameTable {
  public:
    /// Addresses are handed out from `first` to `last` in turn, so that one is reused as late as
    /// possible.
    NameTable(std::uint32_t first, std::uint32_t last, std::string domain = {})
        : first_(first), last_(last), next_(first), domain_(std::move(domain)) {}

    /// Where every pod finds the Service `kubernetes` of the namespace `default`, which must not be
    /// put then. To be called before anything else.
    void put_server(std::uint32_t address) { server_ = address; }
    /// A pod that already exists has this address, although it was not seen yet. No effect if the
    /// name has an address, or the address is taken or not in our range.
    void reserve(const std::string& namespace_, const std::string& name, std::uint32_t address);
    void put(NamedPod pod);
    void put(NamedService service);
    /// Gives a name an address although neither a pod nor a service of that name was seen yet.
    void expect(const std::string& namespace_, const std::string& name,
                const std::string& owner_uid);
    void remove_pod(const std::string& namespace_, const std::string& name);
    void remove_service(const std::string& namespace_, const std::string& name);

    std::optional<std::uint32_t> address(const std::string& namespace_,
                                         const std::string& name) const;

    /// Every name that the pod can use, with its addresses; its own names first. Names of other
    /// namespaces and other jobs are not included.
    struct Entry {
        std::uint32_t address;
        std::vector<std::string> names;

        friend bool operator==(const Entry&, const Entry&) = default;
    };
    std::vector<Entry> seen_by(const std::string& namespace_, const std::string& pod) const;

    /// The content of an /etc/hosts for all pods of that owner, as they see the same names.
    std::string hosts_of_owner(const std::string& namespace_, const std::string& owner_uid) const;
    /// For one pod with names of its own (has_own_names()).
    std::string hosts_of_pod(const std::string& namespace_, const std::string& pod) const;
    /// It has hostAliases, or a host name that differs from the pod's name.
    bool has_own_names(const std::string& namespace_, const std::string& pod) const;
    /// "" for an unknown pod, too.
    std::string owner_of(const std::string& namespace_, const std::string& pod) const;

  private:
    using Names = std::map<std::uint32_t, std::vector<std::string>>;

    void allocate(const kube::NamespacedName& key);
    void release(const kube::NamespacedName& key);
    void index(const NamedPod& pod);
    void unindex(const NamedPod& pod);
    const std::set<std::string>& candidates_of(const NamedService& service) const;
    std::vector<std::uint32_t> addresses_of(const NamedService& service) const;
    Names visible_to(const std::string& namespace_, const std::string& owner_uid) const;

    std::uint32_t first_;
    std::uint32_t last_;
    std::uint32_t next_;
    std::string domain_;
    std::optional<std::uint32_t> server_;
    std::map<kube::NamespacedName, NamedPod> pods_;
    std::map<kube::NamespacedName, NamedService> services_;
    /// Namespace, label, value -> names of pods: finds the pods that a service selects without
    /// looking at every pod.
    std::map<std::tuple<std::string, std::string, std::string>, std::set<std::string>> by_label_;
    std::map<kube::NamespacedName, std::uint32_t> addresses_;
    std::set<std::uint32_t> taken_;
};

/// NAME, NAME.NS, NAME.NS.svc, NAME.NS.svc.cluster.local, and NAME.NS.svc.DOMAIN if that differs.
std::vector<std::string> name_forms(const std::string& name, const std::string& namespace_,
                                    const std::string& domain);

/// The words of `value` that have the form of a replica's name of the job: `JOB-...-NUMBER`.
std::vector<std::string> replica_names_in(std::string_view value, std::string_view job);

/// Replaces each host name in `value` that `addresses` knows. Only whole names count: with letters,
/// digits, '-' or '.' next to it, it is another name.
std::string replace_names(std::string_view value,
                          const std::map<std::string, std::string, std::less<>>& addresses);

}  // namespace muster::runtime
