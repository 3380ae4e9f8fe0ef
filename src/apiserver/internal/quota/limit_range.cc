#include "apiserver/internal/quota/limit_range.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

#include "apiserver/internal/quota/resource_list.h"
#include "apiserver/objects/json_access.h"

namespace muster::apiserver {

namespace {

constexpr const char* kRangeAnnotation = "kubernetes.io/limit-ranger";
constexpr std::size_t kMostReasons = 100;
constexpr std::size_t kMostFindings = 1000;  // containers may all have the same reasons
constexpr std::string_view kContainer = "Container";

/// What LimitRanger says of the containers, and how much it added to them.
struct DefaultsSet {
    std::string annotation;
    std::size_t bytes = 0;
    std::size_t most_bytes = 0;

    bool is_too_much() const { return bytes > most_bytes; }
    void note(const std::set<std::string>& names, std::string_view what, std::string_view whose,
              std::string_view container) {
        if (names.empty()) return;
        annotation += annotation.empty() ? "LimitRanger plugin set: " : "; ";
        annotation +=
            fmt::format("{} {} for {} {}", fmt::join(names, ", "), what, whose, container);
    }
};

std::set<std::string> fill_in(json::object& resources, const char* key,
                              const ResourceList& defaults, DefaultsSet& set) {
    std::set<std::string> names;
    if (defaults.empty()) return names;
    json::object& given = ensure_object(resources, key);
    for (const auto& [name, amount] : defaults) {
        if (given.contains(name)) continue;
        const std::string text = amount.to_string();
        set.bytes += 2 * name.size() + text.size();
        if (set.is_too_much()) break;
        given.emplace(name, text);
        names.insert(name);
    }
    return names;
}

struct ContainerDefaults {
    ResourceList requests;
    ResourceList limits;
};

ContainerDefaults container_defaults(const json::object& range) {
    ContainerDefaults defaults;
    for (const json::object* limit : objects_at(child(range, "spec"), "limits")) {
        if (string_at(*limit, "type") != kContainer) continue;
        for (auto& [name, amount] : resource_list(child(*limit, "defaultRequest")))
            defaults.requests.insert_or_assign(name, amount);
        for (auto& [name, amount] : resource_list(child(*limit, "default")))
            defaults.limits.insert_or_assign(name, amount);
    }
    return defaults;
}

void fill_containers(json::object& spec, const char* key, std::string_view whose,
                     const ContainerDefaults& defaults, DefaultsSet& set) {
    for_each_object(spec, key, [&](json::object& container) {
        if (set.is_too_much()) return;
        json::object& resources = ensure_object(container, "resources");
        const auto limits = fill_in(resources, "limits", defaults.limits, set);
        const auto requests = fill_in(resources, "requests", defaults.requests, set);
        const std::string_view name = string_at(container, "name");
        set.note(requests, "request", whose, name);
        set.note(limits, "limit", whose, name);
    });
}

// ---- constraints ----

class Reasons {
  public:
    bool is_full() const { return reasons_.size() >= kMostReasons || findings_ >= kMostFindings; }
    void add(std::string reason) {
        ++findings_;
        if (std::ranges::find(reasons_, reason) == reasons_.end())
            reasons_.push_back(std::move(reason));
    }
    std::string text() const {
        if (reasons_.size() == 1) return reasons_.front();
        return reasons_.empty() ? "" : fmt::format("[{}]", fmt::join(reasons_, ", "));
    }

  private:
    std::vector<std::string> reasons_;
    std::size_t findings_ = 0;
};

/// What one range allows of a container, a pod or a claim.
struct Constraints {
    std::string type;
    ResourceList min;
    ResourceList max;
    ResourceList ratio;
};

std::vector<Constraints> constraints_of(const LimitRanges& ranges) {
    std::vector<Constraints> all;
    for (const kube::ObjectPtr& range : ranges)
        for (const json::object* limit : objects_at(child(range->get_object(), "spec"), "limits"))
            all.push_back({std::string(string_at(*limit, "type")),
                           resource_list(child(*limit, "min")), resource_list(child(*limit, "max")),
                           resource_list(child(*limit, "maxLimitRequestRatio"))});
    return all;
}

const kube::Quantity* find_in(const ResourceList& list, const std::string& name) {
    const auto found = list.find(name);
    return found == list.end() ? nullptr : &found->second;
}

void check_least(const Constraints& range, const ResourceList& requests, const ResourceList& limits,
                 Reasons& reasons) {
    for (const auto& [name, least] : range.min) {
        if (reasons.is_full()) return;
        const kube::Quantity* request = find_in(requests, name);
        const kube::Quantity* limit = find_in(limits, name);
        const std::string rule =
            fmt::format("minimum {} usage per {} is {}", name, range.type, least.to_string());
        if (request == nullptr)
            reasons.add(rule + ".  No request is specified");
        else if (*request < least)
            reasons.add(fmt::format("{}, but request is {}", rule, request->to_string()));
        else if (limit != nullptr && *limit < least)
            reasons.add(fmt::format("{}, but limit is {}", rule, limit->to_string()));
    }
}

void check_most(const Constraints& range, const ResourceList& requests, const ResourceList& limits,
                Reasons& reasons) {
    for (const auto& [name, most] : range.max) {
        if (reasons.is_full()) return;
        const kube::Quantity* request = find_in(requests, name);
        const kube::Quantity* limit = find_in(limits, name);
        const std::string rule =
            fmt::format("maximum {} usage per {} is {}", name, range.type, most.to_string());
        if (limit == nullptr)
            reasons.add(rule + ".  No limit is specified");
        else if (*limit > most)
            reasons.add(fmt::format("{}, but limit is {}", rule, limit->to_string()));
        else if (request != nullptr && *request > most)
            reasons.add(fmt::format("{}, but request is {}", rule, request->to_string()));
    }
}

void check_ratio(const Constraints& range, const ResourceList& requests, const ResourceList& limits,
                 Reasons& reasons) {
    for (const auto& [name, most] : range.ratio) {
        if (reasons.is_full()) return;
        const kube::Quantity* request = find_in(requests, name);
        const kube::Quantity* limit = find_in(limits, name);
        const std::string rule = fmt::format("{} max limit to request ratio per {} is {}", name,
                                             range.type, most.to_string());
        if (request == nullptr || request->is_zero()) {
            reasons.add(rule + ", but no request is specified or request is 0");
        } else if (limit == nullptr || limit->is_zero()) {
            reasons.add(rule + ", but no limit is specified or limit is 0");
        } else {
            const double ratio = limit->approximate() / request->approximate();
            if (ratio > most.approximate())
                reasons.add(fmt::format("{}, but provided ratio is {:f}", rule, ratio));
        }
    }
}

void check_resources(const Constraints& range, const ResourceList& requests,
                     const ResourceList& limits, Reasons& reasons) {
    check_least(range, requests, limits, reasons);
    check_most(range, requests, limits, reasons);
    check_ratio(range, requests, limits, reasons);
}

}  // namespace

bool set_limit_defaults(json::object& pod, const LimitRanges& ranges, std::size_t most_bytes) {
    json::object* spec = object_at(pod, "spec");
    if (spec == nullptr) return true;
    for (const kube::ObjectPtr& range : ranges) {
        const ContainerDefaults defaults = container_defaults(range->get_object());
        DefaultsSet set{.annotation = {}, .most_bytes = most_bytes};
        fill_containers(*spec, "containers", "container", defaults, set);
        fill_containers(*spec, "initContainers", "init container", defaults, set);
        if (set.is_too_much()) return false;
        most_bytes -= set.bytes;
        if (!set.annotation.empty())
            ensure_object(ensure_object(pod, "metadata"), "annotations")[kRangeAnnotation] =
                set.annotation;
    }
    return true;
}

std::string pod_limit_problem(const json::object& pod, const LimitRanges& ranges) {
    if (ranges.empty()) return {};
    const json::object& spec = child(pod, "spec");
    struct Needs {
        ResourceList requests;
        ResourceList limits;
    };
    std::vector<Needs> containers;
    for (const char* key : {"containers", "initContainers"})
        for (const json::object* container : objects_at(spec, key)) {
            const json::object& resources = child(*container, "resources");
            containers.push_back({resource_list(child(resources, "requests")),
                                  resource_list(child(resources, "limits"))});
        }
    const Needs whole{pod_resources(spec, "requests", Overhead::kLeftOut),
                      pod_resources(spec, "limits", Overhead::kLeftOut)};
    Reasons reasons;
    for (const Constraints& range : constraints_of(ranges)) {
        if (range.type == "Pod") check_resources(range, whole.requests, whole.limits, reasons);
        if (range.type != kContainer) continue;
        for (const Needs& needs : containers)
            check_resources(range, needs.requests, needs.limits, reasons);
    }
    return reasons.text();
}

std::string claim_limit_problem(const json::object& claim, const LimitRanges& ranges) {
    const ResourceList requests =
        resource_list(child(child(child(claim, "spec"), "resources"), "requests"));
    Reasons reasons;
    for (const Constraints& range : constraints_of(ranges)) {
        if (range.type != "PersistentVolumeClaim") continue;
        check_least(range, requests, {}, reasons);
        for (const auto& [name, most] : range.max) {
            if (reasons.is_full()) break;
            const kube::Quantity* request = find_in(requests, name);
            const std::string rule =
                fmt::format("maximum {} usage per {} is {}", name, range.type, most.to_string());
            if (request == nullptr)
                reasons.add(rule + ".  No request is specified");
            else if (*request > most)
                reasons.add(fmt::format("{}, but request is {}", rule, request->to_string()));
        }
    }
    return reasons.text();
}

}  // namespace muster::apiserver
