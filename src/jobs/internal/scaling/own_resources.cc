#include <algorithm>
#include <iterator>

#include "jobs/scale_plan.h"
#include "kube/values/quantity.h"

namespace muster::jobs {
namespace {

constexpr std::string_view kOwnable[] = {"cpu", "memory"};

/// Whether two lists have the same of a resource, however it is written, or both nothing.
bool same_amount(const kube::ResourceList& a, const kube::ResourceList& b,
                 const std::string& resource) {
    const auto of_a = a.find(resource);
    const auto of_b = b.find(resource);
    if (of_a == a.end() || of_b == b.end()) return of_a == a.end() && of_b == b.end();
    const auto amount_a = kube::Quantity::parse(of_a->second);
    const auto amount_b = kube::Quantity::parse(of_b->second);
    return amount_a && amount_b ? *amount_a == *amount_b : of_a->second == of_b->second;
}

}  // namespace

bool may_be_own(std::string_view resource) {
    return std::ranges::find(kOwnable, resource) != std::end(kOwnable);
}

kube::ResourceList ownable_amounts(const kube::Container& container) {
    kube::ResourceList amounts;
    for (const std::string_view name : kOwnable)
        for (const kube::ResourceList* all :
             {&container.resources.limits, &container.resources.requests})
            if (const auto found = all->find(std::string(name)); found != all->end())
                amounts.insert(*found);
    return amounts;
}

kube::ResourceList in_effect(const OwnResources& own, const kube::ResourceList& written) {
    kube::ResourceList amounts;
    for (const auto& [name, amount] : own.resource)
        if (same_amount(own.instead_of, written, name)) amounts.emplace(name, amount);
    return amounts;
}

OwnResources with_amounts(const OwnResources& before, const kube::ResourceList& amounts,
                          const kube::ResourceList& written) {
    OwnResources own{.resource = in_effect(before, written), .instead_of = {}};
    for (const auto& [name, amount] : amounts) own.resource.insert_or_assign(name, amount);
    for (const auto& [name, amount] : written)
        if (own.resource.contains(name)) own.instead_of.emplace(name, amount);
    return own;
}

void set_amounts(kube::Container& container, const kube::ResourceList& amounts) {
    for (const auto& [name, amount] : amounts) {
        container.resources.requests[name] = amount;
        container.resources.limits[name] = amount;
    }
}

}  // namespace muster::jobs
