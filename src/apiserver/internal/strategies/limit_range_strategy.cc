#include <fmt/format.h>

#include <set>

#include "apiserver/internal/pod_validation/resource_names.h"
#include "apiserver/internal/quota/resource_list.h"
#include "apiserver/internal/strategies/strategies.h"
#include "apiserver/objects/json_access.h"

namespace muster::apiserver {

namespace {

/// Every container of the namespace is compared with all of them.
constexpr std::size_t kMostAmounts = 1000;
constexpr std::string_view kContainerType = "Container";
constexpr std::string_view kPodType = "Pod";
constexpr std::string_view kClaimType = "PersistentVolumeClaim";

/// For a container: its maximum is its default limit, and that is its default request.
void set_range_defaults(json::object& range) {
    json::array* items = array_at(ensure_object(range, "spec"), "limits");
    if (items == nullptr) return;
    for (json::value& item : *items) {
        json::object* limit = item.if_object();
        if (limit == nullptr || string_at(*limit, "type") != kContainerType) continue;
        const auto fill = [&](std::string_view into, std::string_view from) {
            const json::object given = child(*limit, from);
            if (given.empty()) return;
            json::object& filled = ensure_object(*limit, into);
            for (const auto& entry : given) filled.emplace(entry.key(), entry.value());
        };
        fill("default", "max");
        fill("defaultRequest", "default");
        fill("defaultRequest", "min");
    }
}

void check_type(std::string_view type, const std::string& field, FieldErrors& field_errors) {
    if (type == kPodType || type == kContainerType || type == kClaimType) return;
    if (type.find('/') == std::string_view::npos)
        field_errors.push_back(invalid_value(field, json::value(type),
                                             "must be a standard limit type or fully qualified"));
}

/// The lists of one limit.
struct LimitLists {
    ResourceList min;
    ResourceList max;
    ResourceList by_default;
    ResourceList default_request;
    ResourceList ratio;

    std::set<std::string_view> names() const {
        std::set<std::string_view> all;
        for (const ResourceList* list : {&min, &max, &by_default, &default_request, &ratio})
            for (const auto& [name, amount] : *list) all.insert(name);
        return all;
    }
};

const kube::Quantity* amount_in(const ResourceList& list, std::string_view name) {
    const auto found = list.find(name);
    return found == list.end() ? nullptr : &found->second;
}

/// Compares the amounts of one resource.
class AmountChecks {
  public:
    AmountChecks(std::string field, std::string_view name, FieldErrors& field_errors)
        : field_(std::move(field)), name_(name), field_errors_(field_errors) {}

    struct Named {
        const kube::Quantity* amount;
        const char* words;
    };
    /// `key`: the field that is wrong if one is above the other, and `shown` its value.
    void not_above(Named low, Named high, const char* key, const kube::Quantity* shown) {
        if (low.amount == nullptr || high.amount == nullptr || *low.amount <= *high.amount) return;
        add(key, *shown,
            fmt::format("{} value {} is greater than {} value {}", low.words,
                        low.amount->to_string(), high.words, high.amount->to_string()));
    }
    void check_ratio(const kube::Quantity* ratio, const kube::Quantity* min,
                     const kube::Quantity* max) {
        if (ratio == nullptr) return;
        if (*ratio < kube::Quantity::from_units(1))
            add("maxLimitRequestRatio", *ratio,
                fmt::format("ratio {} is less than 1", ratio->to_string()));
        if (min == nullptr || max == nullptr || min->is_zero()) return;
        const double possible = max->approximate() / min->approximate();
        if (ratio->approximate() > possible)
            add("maxLimitRequestRatio", *ratio,
                fmt::format("ratio {} is greater than max/min = {:f}", ratio->to_string(),
                            possible));
    }
    void check_whole(const kube::Quantity* by_default, const kube::Quantity* request) {
        if (by_default == nullptr || request == nullptr || !is_whole_resource(name_)) return;
        if (*by_default == *request) return;
        add("defaultRequest", *request,
            fmt::format("default value {} must equal to defaultRequest value {} in {}",
                        by_default->to_string(), request->to_string(), name_));
    }

  private:
    void add(const char* key, const kube::Quantity& value, std::string_view why) {
        field_errors_.push_back(invalid_value(fmt::format("{}.{}[{}]", field_, key, name_),
                                              json::value(value.to_string()), why));
    }

    std::string field_;
    std::string_view name_;
    FieldErrors& field_errors_;
};

void check_amounts(const LimitLists& lists, const std::string& field, FieldErrors& field_errors) {
    for (const std::string_view name : lists.names()) {
        const kube::Quantity* min = amount_in(lists.min, name);
        const kube::Quantity* max = amount_in(lists.max, name);
        const kube::Quantity* by_default = amount_in(lists.by_default, name);
        const kube::Quantity* request = amount_in(lists.default_request, name);
        AmountChecks checks(field, name, field_errors);
        checks.not_above({min, "min"}, {max, "max"}, "min", min);
        checks.not_above({min, "min"}, {request, "default request"}, "defaultRequest", request);
        checks.not_above({request, "default request"}, {max, "max"}, "defaultRequest", request);
        checks.not_above({request, "default request"}, {by_default, "default limit"},
                         "defaultRequest", request);
        checks.not_above({min, "min"}, {by_default, "default"}, "default", min);
        checks.not_above({by_default, "default"}, {max, "max"}, "default", max);
        checks.check_ratio(amount_in(lists.ratio, name), min, max);
        checks.check_whole(by_default, request);
    }
}

ResourceList named_amounts(const json::object& limit, const char* key, std::string_view type,
                           const std::string& field, FieldErrors& field_errors) {
    const json::object& list = child(limit, key);
    for (const auto& entry : list) {
        const std::string at = fmt::format("{}.{}[{}]", field, key, std::string_view(entry.key()));
        if (type == kPodType || type == kContainerType)
            check_container_resource_name(entry.key(), at, field_errors);
        else
            check_resource_name(entry.key(), at, field_errors);
        if (const auto amount = kube::Quantity::parse(entry.value()); !amount)
            field_errors.push_back(invalid_value(at, entry.value(), amount.error().message()));
    }
    return resource_list(list);
}

void check_limit(const json::object& limit, const std::string& field, FieldErrors& field_errors) {
    const std::string_view type = string_at(limit, "type");
    const auto amounts = [&](const char* key) {
        return named_amounts(limit, key, type, field, field_errors);
    };
    LimitLists lists{.min = amounts("min"),
                     .max = amounts("max"),
                     .by_default = {},
                     .default_request = {},
                     .ratio = amounts("maxLimitRequestRatio")};
    if (type == kPodType) {
        for (const char* key : {"default", "defaultRequest"})
            if (!child(limit, key).empty())
                field_errors.push_back(forbidden_field(
                    fmt::format("{}.{}", field, key), "may not be specified when `type` is 'Pod'"));
    } else {
        lists.by_default = amounts("default");
        lists.default_request = amounts("defaultRequest");
    }
    if (type == kClaimType && !lists.min.contains("storage") && !lists.max.contains("storage"))
        field_errors.push_back(
            required(field + ".limits",
                     "either minimum or maximum storage value is required, but neither was "
                     "provided"));
    check_amounts(lists, field, field_errors);
}

void validate_limit_range(const json::object& range, FieldErrors& field_errors) {
    std::set<std::string_view> types;
    const auto limits = objects_at(child(range, "spec"), "limits");
    std::size_t amounts = limits.size();
    for (const json::object* limit : limits)
        for (const char* key : {"min", "max", "default", "defaultRequest", "maxLimitRequestRatio"})
            amounts += child(*limit, key).size();
    if (amounts > kMostAmounts) {
        field_errors.push_back(too_many("spec.limits", amounts, kMostAmounts));
        return;
    }
    for (std::size_t i = 0; i < limits.size(); ++i) {
        const std::string field = fmt::format("spec.limits[{}]", i);
        const std::string_view type = string_at(*limits[i], "type");
        check_type(type, field + ".type", field_errors);
        if (!types.insert(type).second)
            field_errors.push_back(duplicate(field + ".type", json::value(type)));
        check_limit(*limits[i], field, field_errors);
    }
}

}  // namespace

Strategy limit_range_strategy() {
    return {.apply_defaults = set_range_defaults, .validate = validate_limit_range};
}

}  // namespace muster::apiserver
