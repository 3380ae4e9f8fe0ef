#include "runtime/internal/network/names.h"

#include <algorithm>

#include "runtime/internal/network/pod_network.h"

namespace muster::runtime {

namespace {

bool selects(const std::map<std::string, std::string>& selector,
             const std::map<std::string, std::string>& labels) {
    if (selector.empty()) return false;
    return std::ranges::all_of(selector, [&](const auto& pair) {
        auto it = labels.find(pair.first);
        return it != labels.end() && it->second == pair.second;
    });
}

/// Two jobs do not see each other's names; everyone sees those that belong to no job.
bool sees(const std::string& owner, const std::string& other) {
    return owner.empty() || other.empty() || owner == other;
}

bool is_name_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.';
}

void append_unique(std::vector<std::string>& to, std::vector<std::string> names) {
    for (std::string& name : names)
        if (std::ranges::find(to, name) == to.end()) to.push_back(std::move(name));
}

constexpr const char* kServerNamespace = "default";
constexpr std::string_view kHostsHead =
    "# Kept current by muster: the names of this pod's job and namespace.\n"
    "127.0.0.1\tlocalhost\n"
    "::1\tlocalhost ip6-localhost ip6-loopback\n";

void append_hosts_line(std::string& text, const std::string& address,
                       const std::vector<std::string>& names) {
    text += address;
    char separator = '\t';
    for (const std::string& name : names) {
        text += separator;
        text += name;
        separator = ' ';
    }
    text += '\n';
}

}  // namespace

std::vector<std::string> name_forms(const std::string& name, const std::string& namespace_,
                                    const std::string& domain) {
    constexpr std::string_view kUsual = "cluster.local";
    const std::string in_namespace = name + "." + namespace_;
    const std::string service = in_namespace + ".svc";
    std::vector<std::string> forms{name, in_namespace, service,
                                   service + "." + std::string(kUsual)};
    if (!domain.empty() && domain != kUsual) forms.push_back(service + "." + domain);
    return forms;
}

void NameTable::reserve(const std::string& namespace_, const std::string& name,
                        std::uint32_t address) {
    const kube::NamespacedName key{namespace_, name};
    if (address < first_ || address > last_ || addresses_.contains(key)) return;
    if (taken_.insert(address).second) addresses_.emplace(key, address);
}

void NameTable::put(NamedPod pod) {
    kube::NamespacedName key{pod.namespace_, pod.name};
    if (auto before = pods_.find(key); before != pods_.end()) unindex(before->second);
    index(pod);
    pods_.insert_or_assign(key, std::move(pod));
    allocate(key);
}

void NameTable::index(const NamedPod& pod) {
    for (const auto& [label, value] : pod.labels)
        by_label_[{pod.namespace_, label, value}].insert(pod.name);
}

void NameTable::unindex(const NamedPod& pod) {
    for (const auto& [label, value] : pod.labels) {
        auto it = by_label_.find({pod.namespace_, label, value});
        if (it == by_label_.end()) continue;
        it->second.erase(pod.name);
        if (it->second.empty()) by_label_.erase(it);
    }
}

void NameTable::put(NamedService service) {
    kube::NamespacedName key{service.namespace_, service.name};
    services_.insert_or_assign(key, std::move(service));
    allocate(key);
}

void NameTable::expect(const std::string& namespace_, const std::string& name,
                       const std::string& owner_uid) {
    const kube::NamespacedName key{namespace_, name};
    if (!pods_.contains(key) && !services_.contains(key))
        put(NamedService{namespace_, name, owner_uid, {}});
}

void NameTable::remove_pod(const std::string& namespace_, const std::string& name) {
    kube::NamespacedName key{namespace_, name};
    if (auto it = pods_.find(key); it != pods_.end()) {
        unindex(it->second);
        pods_.erase(it);
    }
    release(key);
}

void NameTable::remove_service(const std::string& namespace_, const std::string& name) {
    kube::NamespacedName key{namespace_, name};
    services_.erase(key);
    release(key);
}

void NameTable::allocate(const kube::NamespacedName& key) {
    if (addresses_.contains(key)) return;
    if (taken_.size() > last_ - first_) return;
    while (taken_.contains(next_)) next_ = next_ == last_ ? first_ : next_ + 1;
    addresses_.emplace(key, next_);
    taken_.insert(next_);
    next_ = next_ == last_ ? first_ : next_ + 1;
}

void NameTable::release(const kube::NamespacedName& key) {
    if (pods_.contains(key) || services_.contains(key)) return;
    auto it = addresses_.find(key);
    if (it == addresses_.end()) return;
    taken_.erase(it->second);
    addresses_.erase(it);
}

std::optional<std::uint32_t> NameTable::address(const std::string& namespace_,
                                                const std::string& name) const {
    auto it = addresses_.find(kube::NamespacedName{namespace_, name});
    if (it == addresses_.end()) return std::nullopt;
    return it->second;
}

/// The smallest set of pods with one of the selector's labels.
const std::set<std::string>& NameTable::candidates_of(const NamedService& service) const {
    static const std::set<std::string> none;
    const std::set<std::string>* fewest = nullptr;
    for (const auto& [label, value] : service.selector) {
        auto it = by_label_.find({service.namespace_, label, value});
        if (it == by_label_.end()) return none;
        if (fewest == nullptr || it->second.size() < fewest->size()) fewest = &it->second;
    }
    return fewest == nullptr ? none : *fewest;
}

std::vector<std::uint32_t> NameTable::addresses_of(const NamedService& service) const {
    // A service with the name of a pod means that pod, whether it exists yet or not; services of
    // training jobs are made that way. Any other means the pods that it selects.
    const kube::NamespacedName key{service.namespace_, service.name};
    std::vector<std::uint32_t> addresses;
    if (!pods_.contains(key)) {
        for (const std::string& name : candidates_of(service)) {
            const kube::NamespacedName pod{service.namespace_, name};
            if (!selects(service.selector, pods_.at(pod).labels)) continue;
            if (auto found = addresses_.find(pod); found != addresses_.end())
                addresses.push_back(found->second);
        }
    }
    if (addresses.empty()) {
        if (auto found = addresses_.find(key); found != addresses_.end())
            addresses.push_back(found->second);
    }
    return addresses;
}

NameTable::Names NameTable::visible_to(const std::string& namespace_,
                                       const std::string& owner_uid) const {
    Names names;
    auto in_namespace = [&](const auto& table, auto visit) {
        for (auto it = table.lower_bound(kube::NamespacedName{namespace_, ""});
             it != table.end() && it->first.namespace_ == namespace_; ++it)
            if (sees(owner_uid, it->second.owner_uid)) visit(it->second);
    };
    in_namespace(pods_, [&](const NamedPod& other) {
        auto found = addresses_.find(kube::NamespacedName{namespace_, other.name});
        if (found == addresses_.end()) return;
        std::vector<std::string>& at = names[found->second];
        append_unique(at, name_forms(other.name, namespace_, domain_));
        const std::string host = other.hostname.empty() ? other.name : other.hostname;
        if (!other.subdomain.empty())
            append_unique(at, name_forms(host + "." + other.subdomain, namespace_, domain_));
    });
    in_namespace(services_, [&](const NamedService& service) {
        for (std::uint32_t address : addresses_of(service))
            append_unique(names[address], name_forms(service.name, namespace_, domain_));
    });
    if (server_) {
        std::vector<std::string> forms = name_forms("kubernetes", kServerNamespace, domain_);
        // Its name alone means a neighbour.
        if (namespace_ != kServerNamespace) forms.erase(forms.begin());
        append_unique(names[*server_], forms);
    }
    return names;
}

std::vector<NameTable::Entry> NameTable::seen_by(const std::string& namespace_,
                                                 const std::string& pod) const {
    const kube::NamespacedName self{namespace_, pod};
    Names names = visible_to(namespace_, owner_of(namespace_, pod));
    std::vector<Entry> entries;
    auto own_address = addresses_.find(self);
    if (own_address != addresses_.end()) {
        if (auto it = names.find(own_address->second); it != names.end()) {
            if (auto own = pods_.find(self); own != pods_.end() && !own->second.hostname.empty())
                append_unique(it->second, {own->second.hostname});
            entries.push_back({it->first, std::move(it->second)});
            names.erase(it);
        }
    }
    for (auto& [address, list] : names) entries.push_back({address, std::move(list)});
    return entries;
}

std::string NameTable::owner_of(const std::string& namespace_, const std::string& pod) const {
    auto it = pods_.find(kube::NamespacedName{namespace_, pod});
    return it == pods_.end() ? std::string() : it->second.owner_uid;
}

bool NameTable::has_own_names(const std::string& namespace_, const std::string& pod) const {
    auto it = pods_.find(kube::NamespacedName{namespace_, pod});
    if (it == pods_.end()) return false;
    const NamedPod& own = it->second;
    return !own.host_aliases.empty() || (!own.hostname.empty() && own.hostname != own.name);
}

std::string NameTable::hosts_of_owner(const std::string& namespace_,
                                      const std::string& owner_uid) const {
    std::string text(kHostsHead);
    for (const auto& [address, names] : visible_to(namespace_, owner_uid))
        append_hosts_line(text, format_address(address), names);
    return text;
}

std::string NameTable::hosts_of_pod(const std::string& namespace_, const std::string& pod) const {
    std::string text(kHostsHead);
    for (const Entry& entry : seen_by(namespace_, pod))
        append_hosts_line(text, format_address(entry.address), entry.names);
    if (auto own = pods_.find(kube::NamespacedName{namespace_, pod}); own != pods_.end())
        for (const auto& [address, names] : own->second.host_aliases)
            append_hosts_line(text, address, names);
    return text;
}

std::vector<std::string> replica_names_in(std::string_view value, std::string_view job) {
    std::vector<std::string> names;
    while (!value.empty()) {
        std::size_t length = 0;
        while (length < value.size() && is_name_character(value[length])) ++length;
        const std::string_view host = value.substr(0, length);
        const std::string_view name = host.substr(0, host.find('.'));
        if (!job.empty() && name.size() > job.size() + 1 && name.starts_with(job) &&
            name[job.size()] == '-' && name.back() >= '0' && name.back() <= '9')
            append_unique(names, {std::string(name)});
        value.remove_prefix(length == 0 ? 1 : length);
    }
    return names;
}

std::string replace_names(std::string_view value,
                          const std::map<std::string, std::string, std::less<>>& addresses) {
    std::string result;
    while (!value.empty()) {
        std::size_t length = 0;
        while (length < value.size() && is_name_character(value[length])) ++length;
        if (length == 0) {
            result += value.front();
            value.remove_prefix(1);
            continue;
        }
        const std::string_view token = value.substr(0, length);
        auto it = addresses.find(token);
        if (it == addresses.end())
            result += token;
        else
            result += it->second;
        value.remove_prefix(length);
    }
    return result;
}

}  // namespace muster::runtime
