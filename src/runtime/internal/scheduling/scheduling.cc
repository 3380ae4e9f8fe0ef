#include "runtime/internal/scheduling/scheduling.h"

#include <algorithm>
#include <optional>

namespace muster::runtime {

namespace {

using Resources = std::map<std::string, kube::Quantity>;

kube::Quantity amount(const Resources& resources, const std::string& name) {
    auto it = resources.find(name);
    return it == resources.end() ? kube::Quantity() : it->second;
}

void add(Resources& to, const Resources& more) {
    for (const auto& [name, value] : more) to[name] = amount(to, name) + value;
}

using Pods = std::vector<const SchedulingPod*>;

/// What is decided together: one pod, or the pods of a gang that has not started.
struct Unit {
    Pods pods;  ///< oldest first
    std::size_t size = 1;

    const SchedulingPod& first() const { return *pods.front(); }
    bool is_gang() const { return size > 1; }
};

std::string name_of(const SchedulingPod& pod) { return pod.key.substr(pod.key.find('/') + 1); }

/// About the first resource of which there is not enough even on an empty machine.
std::optional<std::string> never_fits(const Unit& unit, const SchedulingNode& node) {
    Resources together;
    for (std::size_t i = 0; i < unit.size; ++i) add(together, unit.pods[i]->requests);
    for (const auto& [name, wanted] : together) {
        if (wanted.is_zero()) continue;
        const kube::Quantity have = amount(node.allocatable, name);
        if (wanted <= have) continue;
        const std::string what = fmt::format("0/1 nodes are available: 1 Insufficient {}: ", name);
        const std::string who =
            unit.is_gang() ? fmt::format("the {} pods of {} that start together ask for {}",
                                         unit.size, unit.first().job, wanted.to_string())
                           : fmt::format("the pod asks for {}", wanted.to_string());
        if (have.is_zero())
            return fmt::format(
                "{}{} of it and this machine has none. Remove the request, or run the manifest "
                "with 'muster run --ignore-resources {}'",
                what, who, name);
        return fmt::format(
            "{}{} and this machine has {} in all. {}", what, who, have.to_string(),
            unit.is_gang()
                ? "They can never run here together: lower their requests or replicas, or say with "
                  "runPolicy.schedulingPolicy.minAvailable how many are enough to start"
                : "It can never run here: lower its requests");
    }
    return std::nullopt;
}

struct Lack {
    std::string resource;
    kube::Quantity wanted;
    kube::Quantity taken;
    kube::Quantity have;
};

std::optional<Lack> lacks(const SchedulingPod& pod, const SchedulingNode& node,
                          const Resources& used) {
    for (const auto& [name, wanted] : pod.requests) {
        const kube::Quantity have = amount(node.allocatable, name);
        const kube::Quantity taken = amount(used, name);
        if (!wanted.is_zero() && taken + wanted > have) return Lack{name, wanted, taken, have};
    }
    return std::nullopt;
}

std::string describe(const Lack& lack, const SchedulingPod& pod, const Unit& unit,
                     std::size_t fit) {
    const std::string what =
        fmt::format("0/1 nodes are available: 1 Insufficient {}: ", lack.resource);
    if (!unit.is_gang() || fit >= unit.size)
        return fmt::format(
            "{}the pod asks for {}, and {} of {} are taken by running pods. It waits until enough "
            "of them end",
            what, lack.wanted.to_string(), lack.taken.to_string(), lack.have.to_string());
    return fmt::format(
        "{}{} of {} pods of {} fit: {} asks for {}, and {} of {} are free. They start together: "
        "all wait until enough running pods end",
        what, fit, unit.size, unit.first().job, name_of(pod), lack.wanted.to_string(),
        (lack.have - lack.taken).to_string(), lack.have.to_string());
}

std::optional<std::string> port_conflict(const SchedulingPod& pod, const Pods& placed) {
    for (const SchedulingPod* other : placed) {
        if (other->job_uid == pod.job_uid) continue;
        for (const std::int32_t port : pod.ports)
            if (other->ports.contains(port))
                return fmt::format(
                    "0/1 nodes are available: 1 node(s) didn't have free ports: port {} is used by "
                    "{} (pod {}). All pods share one network here, as the kernel forbids network "
                    "namespaces, and a worker could join the wrong master. It waits until that job "
                    "ends; to run both at once, start muster as root or allow user namespaces",
                    port, other->job, other->key);
    }
    return std::nullopt;
}

bool older(const SchedulingPod* a, const SchedulingPod* b) {
    return std::tie(a->created, a->key) < std::tie(b->created, b->key);
}

/// The waiting pods in the order of decision: those that have to follow their gang, then the
/// oldest.
std::vector<Unit> units_of(const Pods& waiting) {
    std::vector<Unit> units;
    std::map<std::string, std::size_t> gangs;
    for (const SchedulingPod* pod : waiting) {
        if (pod->admitted || pod->gang.empty() || pod->gang_size <= 1) {
            units.push_back({.pods = {pod}, .size = 1});
            continue;
        }
        const auto [place, added] = gangs.emplace(pod->gang, units.size());
        if (added) units.push_back({.pods = {}, .size = 1});
        Unit& gang = units[place->second];
        gang.pods.push_back(pod);
        gang.size = std::max(gang.size, pod->gang_size);
    }
    std::ranges::sort(units, [](const Unit& a, const Unit& b) {
        if (a.first().admitted != b.first().admitted) return a.first().admitted;
        return older(&a.first(), &b.first());
    });
    return units;
}

class Placing {
  public:
    Placing(std::span<const SchedulingPod* const> pods, const SchedulingNode& node) : node_(node) {
        for (const SchedulingPod* pod : pods)
            if (pod->bound) {
                add(used_, pod->requests);
                placed_.push_back(pod);
            }
    }

    void decide(const Unit& unit) {
        if (unit.pods.size() < unit.size) return refuse(unit, {});  // the others are still to come
        if (auto never = never_fits(unit, node_)) return refuse(unit, *never);
        if (node_.unschedulable)
            return refuse(unit,
                          "0/1 nodes are available: 1 node(s) were unschedulable: the node is "
                          "cordoned. It waits until 'kubectl uncordon' lets pods in again");
        if (auto first = first_in_line(unit)) return refuse(unit, *first);
        const Resources used_before = used_;
        const std::size_t placed_before = placed_.size();
        std::size_t fit = 0;
        std::string obstacle;
        std::vector<Placement> placements;
        for (const SchedulingPod* pod : unit.pods) {
            const std::string why = try_to_place(*pod, unit, fit);
            if (why.empty())
                ++fit;
            else if (obstacle.empty())
                obstacle = why;
            placements.push_back({pod->key, why.empty(), why});
        }
        if (fit >= unit.size) {
            std::ranges::move(placements, std::back_inserter(placements_));
            return;
        }
        used_ = used_before;
        placed_.resize(placed_before);
        refuse(unit, obstacle);
        reserve(unit);
    }

    std::vector<Placement> take() { return std::move(placements_); }

  private:
    void refuse(const Unit& unit, const std::string& message) {
        for (const SchedulingPod* pod : unit.pods)
            placements_.push_back({pod->key, false, message});
    }

    /// Empty if it was placed.
    std::string try_to_place(const SchedulingPod& pod, const Unit& unit, std::size_t fit) {
        if (auto lack = lacks(pod, node_, used_)) return describe(*lack, pod, unit, fit);
        if (node_.shared_network)
            if (auto conflict = port_conflict(pod, placed_)) return *conflict;
        add(used_, pod.requests);
        placed_.push_back(&pod);
        return {};
    }

    /// It waits for its turn: younger ones may not take what it needs.
    void reserve(const Unit& unit) {
        if (unit.first().admitted) return;
        for (std::size_t i = 0; i < unit.size; ++i) add(reserved_, unit.pods[i]->requests);
        if (waits_first_ == nullptr) waits_first_ = &unit.first();
    }

    /// An earlier unit that waits for what this one would take, if any.
    std::optional<std::string> first_in_line(const Unit& unit) const {
        if (waits_first_ == nullptr || unit.first().admitted) return std::nullopt;
        Resources together;
        for (std::size_t i = 0; i < unit.size; ++i) add(together, unit.pods[i]->requests);
        Resources beside = reserved_;
        add(beside, together);
        for (const SchedulingPod* pod : placed_)
            if (older(waits_first_, pod)) add(beside, pod->requests);
        for (const auto& [name, wanted] : together) {
            if (wanted.is_zero() || amount(reserved_, name).is_zero()) continue;
            if (amount(beside, name) <= amount(node_.allocatable, name)) continue;
            return fmt::format(
                "0/1 nodes are available: 1 Insufficient {}: {} came first and waits for {} of {}. "
                "It waits until that has started",
                name, waits_first_->job, amount(reserved_, name).to_string(),
                amount(node_.allocatable, name).to_string());
        }
        return std::nullopt;
    }

    const SchedulingNode& node_;
    Resources used_;
    Pods placed_;
    Resources reserved_;
    const SchedulingPod* waits_first_ = nullptr;
    std::vector<Placement> placements_;
};

}  // namespace

std::vector<Placement> schedule(std::span<const SchedulingPod* const> pods,
                                const SchedulingNode& node) {
    Pods waiting;
    for (const SchedulingPod* pod : pods)
        if (!pod->bound) waiting.push_back(pod);
    std::ranges::sort(waiting, older);
    Placing placing(pods, node);
    for (const Unit& unit : units_of(waiting)) placing.decide(unit);
    return placing.take();
}

}  // namespace muster::runtime
