#include "apiserver/internal/pod_validation/container_resources.h"

#include <set>

#include "apiserver/internal/pod_validation/name_checks.h"
#include "apiserver/internal/pod_validation/resource_names.h"
#include "apiserver/objects/json_access.h"
#include "kube/values/quantity.h"

namespace muster::apiserver {

namespace {

constexpr std::string_view kPages = "hugepages-";
constexpr std::int64_t kMilli = 1000;

/// Upstream shows a fraction as the Go structure that holds it: 1.5 is 15 with the scale -1.
std::string go_structure(const kube::Quantity& fraction) {
    std::string digits = fraction.to_string();
    int scale = -3;
    if (digits.ends_with('m')) digits.pop_back();
    while (scale < 0 && digits.size() > 1 && digits.back() == '0') {
        digits.pop_back();
        ++scale;
    }
    return fmt::format(
        "resource.Quantity{{i:resource.int64Amount{{value:{}, scale:{}}}, "
        "d:resource.infDecAmount{{Dec:(*inf.Dec)(nil)}}, s:\"\", Format:\"DecimalSI\"}}",
        digits, scale);
}

/// Whether an amount of memory in huge pages is that of whole pages.
bool is_of_whole_pages(std::string_view name, const kube::Quantity& amount) {
    const auto page = kube::Quantity::parse(name.substr(kPages.size()));
    if (!page || page->is_negative() || page->is_zero() || page->ceil_milli() % kMilli != 0)
        return false;
    return amount.ceil_units() % page->ceil_units() == 0;
}

/// The resources that are limited or requested, and what there is among them.
class ResourceChecks {
  public:
    ResourceChecks(std::string field, FieldErrors& field_errors)
        : field_(std::move(field)), field_errors_(field_errors) {}

    void check_list(const json::object& list, const char* kind) {
        for (const auto& [name, value] : list) {
            const std::string at = fmt::format("{}.{}[{}]", field_, kind, std::string_view(name));
            check_container_resource_name(name, at, field_errors_);
            check_amount(name, value, at);
        }
    }
    void compare(const json::object& requests, const json::object& limits) {
        for (const auto& [name, value] : requests) {
            const bool whole = is_whole_resource(name);
            const json::value* limit = limits.if_contains(name);
            if (limit != nullptr)
                compare_amounts(name, value, *limit, whole);
            else if (whole)
                field_errors_.push_back(required(
                    field_ + ".limits", "Limit must be set for non overcommitable resources"));
        }
    }
    void check_pages() {
        if (pages_ && !compute_)
            field_errors_.push_back(forbidden_field(field_, "HugePages require cpu or memory"));
    }

  private:
    void check_amount(std::string_view name, const json::value& value, const std::string& at) {
        compute_ |= name == "cpu" || name == "memory";
        const auto amount = kube::Quantity::parse(value);
        if (!amount) {
            field_errors_.push_back(invalid_value(at, value, amount.error().message()));
            return;
        }
        if (amount->is_negative())
            field_errors_.push_back(invalid_value(at, json::value(amount->to_string()),
                                                  "must be greater than or equal to 0"));
        if (is_integer_resource(name) && amount->ceil_milli() % kMilli != 0)
            field_errors_.push_back(
                invalid_text(at, go_structure(*amount), "must be an integer", Shown::kBare));
        if (!name.starts_with(kPages)) return;
        pages_ = true;
        if (!is_of_whole_pages(name, *amount))
            field_errors_.push_back(
                invalid_value(at, json::value(amount->to_string()),
                              fmt::format("{} is not positive integer multiple of {}",
                                          amount->to_string(), name)));
    }
    void compare_amounts(std::string_view name, const json::value& request,
                         const json::value& limit, bool whole) {
        const auto wanted = kube::Quantity::parse(request);
        const auto allowed = kube::Quantity::parse(limit);
        if (!wanted || !allowed) return;
        const bool unequal = whole && *wanted != *allowed;
        if (!unequal && *wanted <= *allowed) return;
        field_errors_.push_back(invalid_value(
            field_ + ".requests", json::value(wanted->to_string()),
            fmt::format("must be {} {} limit of {}", unequal ? "equal to" : "less than or equal to",
                        name, allowed->to_string())));
    }

    std::string field_;
    FieldErrors& field_errors_;
    bool pages_ = false;
    bool compute_ = false;
};

Cause unsupported_resource(const std::string& field, std::string_view name) {
    return {"FieldValueNotSupported",
            fmt::format("Unsupported value: {}: supported values: \"cpu\", \"memory\"", name),
            field};
}

}  // namespace

void check_resources(const json::object& container, const std::string& field,
                     FieldErrors& field_errors) {
    const json::object& resources = child(container, "resources");
    const json::object& limits = child(resources, "limits");
    const json::object& requests = child(resources, "requests");
    ResourceChecks checks(field + ".resources", field_errors);
    checks.check_list(limits, "limits");
    checks.check_list(requests, "requests");
    checks.compare(requests, limits);
    checks.check_pages();
}

void check_overhead(const json::object& spec, const std::string& in, FieldErrors& field_errors) {
    ResourceChecks checks(in + ".overhead", field_errors);
    checks.check_list(child(spec, "overhead"), "limits");
    checks.check_pages();
}

void check_resize_policy(const json::object& container, std::string_view restart,
                         const std::string& in, FieldErrors& field_errors) {
    const auto policies = objects_at(container, "resizePolicy");
    const std::string field = in + ".resizePolicy";
    std::set<std::string_view> seen;
    for (std::size_t i = 0; i < policies.size(); ++i) {
        const std::string_view name = string_at(*policies[i], "resourceName");
        const std::string_view policy = string_at(*policies[i], "restartPolicy");
        if (!seen.insert(name).second)
            field_errors.push_back({"FieldValueDuplicate", fmt::format("Duplicate value: {}", name),
                                    fmt::format("{}[{}]", field, i)});
        if (name.empty())
            field_errors.push_back(required(field));
        else if (name != "cpu" && name != "memory")
            field_errors.push_back(unsupported_resource(field, name));
        if (policy.empty())
            field_errors.push_back(required(field));
        else if (policy != "NotRequired" && policy != "RestartContainer")
            field_errors.push_back(
                not_supported(field, policy, {"NotRequired", "RestartContainer"}));
        if (restart == "Never" && policy != "NotRequired")
            field_errors.push_back(
                invalid_value(field, json::value(policy),
                              "must be 'NotRequired' when `restartPolicy` is 'Never'"));
    }
}

}  // namespace muster::apiserver
