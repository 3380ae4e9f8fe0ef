#include "apiserver/resources/binding_subjects.h"

#include <algorithm>
#include <tuple>

#include "apiserver/objects/json_access.h"

namespace muster::apiserver {

namespace {
constexpr std::string_view kServiceAccount = "ServiceAccount";
}

BindingSubjects::BindingSubjects(kube::ObjectPtr binding) : binding_(std::move(binding)) {
    const json::array* subjects = array_at(binding_->get_object(), "subjects");
    if (subjects == nullptr) return;
    for (std::uint32_t position = 0; position < subjects->size(); ++position)
        if (const json::object* subject = (*subjects)[position].if_object()) {
            const std::string_view kind = string_at(*subject, "kind");
            sorted_.push_back({kind, string_at(*subject, "name"),
                               kind == kServiceAccount ? string_at(*subject, "namespace") : "",
                               position});
        }
    std::ranges::sort(sorted_);
}

std::span<const BindingSubjects::Subject> BindingSubjects::of_kind(std::string_view kind) const {
    const auto found = std::ranges::equal_range(sorted_, kind, {}, &Subject::kind);
    return {found.begin(), found.end()};
}

const BindingSubjects::Subject* BindingSubjects::find(std::span<const Subject> of_one_kind,
                                                      std::string_view name,
                                                      std::string_view namespace_) {
    const auto key = [](const Subject& subject) {
        return std::tuple(subject.name, subject.namespace_);
    };
    const std::tuple wanted(name, namespace_);
    const auto found = std::ranges::lower_bound(of_one_kind, wanted, {}, key);
    return found == of_one_kind.end() || key(*found) != wanted ? nullptr : &*found;
}

const json::object& BindingSubjects::at(const Subject& subject) const {
    return array_at(binding(), "subjects")->at(subject.position).get_object();
}

}  // namespace muster::apiserver
