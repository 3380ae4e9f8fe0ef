#include "kube/objects/codec.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <cmath>
#include <span>

#include "kube/objects/codec_impl.h"
#include "kube/values/field_path.h"

namespace muster::kube {
namespace codec {
namespace {

std::string_view kind_name(const json::value& value) {
    switch (value.kind()) {
        case json::kind::null:
            return "null";
        case json::kind::bool_:
            return "a boolean";
        case json::kind::int64:
        case json::kind::uint64:
        case json::kind::double_:
            return "a number";
        case json::kind::string:
            return "a string";
        case json::kind::array:
            return "a list";
        case json::kind::object:
            return "an object";
    }
    return "something else";
}

void report(std::string message, const Place& place, Problems& problems) {
    problems.push_back({"FieldValueTypeInvalid", std::move(message), place.path()});
}

}  // namespace

std::string Place::path() const {
    if (parent == nullptr) return std::string(key);
    return is_item ? item_path(parent->path(), index) : child_path(parent->path(), key);
}

void report_type(const json::value& value, std::string_view wanted, const Place& place,
                 Problems& problems) {
    report(fmt::format("must be {}, got {}", wanted, kind_name(value)), place, problems);
}

void decode_string(const json::value& value, std::string& out, const Place& place,
                   Problems& problems) {
    if (const json::string* text = value.if_string()) {
        out.assign(text->data(), text->size());
        return;
    }
    // YAML makes numbers and booleans of what people mean as text, mostly in env and labels.
    if (value.is_number() || value.is_bool()) {
        report(fmt::format("must be a string, got {} (put it in quotes: \"{}\")", kind_name(value),
                           json::serialize(value)),
               place, problems);
        return;
    }
    report_type(value, "a string", place, problems);
}

void decode_bool(const json::value& value, bool& out, const Place& place, Problems& problems) {
    if (const bool* boolean = value.if_bool()) {
        out = *boolean;
        return;
    }
    report_type(value, "true or false", place, problems);
}

void decode_object(const json::value& value, json::object& out, const Place& place,
                   Problems& problems) {
    if (const json::object* object = value.if_object()) {
        out = *object;
        return;
    }
    report_type(value, "an object", place, problems);
}

std::optional<std::int64_t> decode_integer(const json::value& value, std::int64_t min,
                                           std::int64_t max, const Place& place,
                                           Problems& problems) {
    if (const double* real = value.if_double()) {
        const bool whole = std::fabs(*real) < 1e15 && std::trunc(*real) == *real;
        if (whole)
            report(fmt::format("must be an integer written without a fraction or an exponent, "
                               "got {:.1f}",
                               *real),
                   place, problems);
        else
            report(fmt::format("must be an integer, got {}", *real), place, problems);
        return std::nullopt;
    }
    if (!value.is_number()) {
        report_type(value, "an integer", place, problems);
        return std::nullopt;
    }
    boost::json::error_code failed;
    const auto integer = value.to_number<std::int64_t>(failed);
    if (failed || integer < min || integer > max) {
        report(fmt::format("must be an integer from {} to {}, got {}", min, max,
                           json::serialize(value)),
               place, problems);
        return std::nullopt;
    }
    return integer;
}

}  // namespace codec

Error decode_error(std::vector<Cause> problems) {
    constexpr std::size_t kShown = 10;  // the causes have them all
    std::string text;
    for (const Cause& problem : std::span(problems).first(std::min(problems.size(), kShown))) {
        if (!text.empty()) text += "; ";
        if (!problem.field.empty()) text += problem.field + ": ";
        text += problem.message;
    }
    if (problems.size() > kShown) text += fmt::format("; and {} more", problems.size() - kShown);
    return std::move(Error(Code::kBadRequest, std::move(text)).with_causes(std::move(problems)));
}

}  // namespace muster::kube

MUSTER_INSTANTIATE_CODEC(muster::kube::ObjectMeta);
MUSTER_INSTANTIATE_CODEC(muster::kube::OwnerReference);
MUSTER_INSTANTIATE_CODEC(muster::kube::ObjectReference);
MUSTER_INSTANTIATE_CODEC(muster::kube::Container);
MUSTER_INSTANTIATE_CODEC(muster::kube::EnvVar);
MUSTER_INSTANTIATE_CODEC(muster::kube::Volume);
MUSTER_INSTANTIATE_CODEC(muster::kube::ContainerState);
MUSTER_INSTANTIATE_CODEC(muster::kube::ContainerStatus);
MUSTER_INSTANTIATE_CODEC(muster::kube::PodCondition);
MUSTER_INSTANTIATE_CODEC(muster::kube::PodStatus);
MUSTER_INSTANTIATE_CODEC(muster::kube::PodSpec);
MUSTER_INSTANTIATE_CODEC(muster::kube::PodTemplateSpec);
MUSTER_INSTANTIATE_CODEC(muster::kube::Pod);
MUSTER_INSTANTIATE_CODEC(muster::kube::Service);
MUSTER_INSTANTIATE_CODEC(muster::kube::ConfigMap);
MUSTER_INSTANTIATE_CODEC(muster::kube::Secret);
MUSTER_INSTANTIATE_CODEC(muster::kube::Event);
MUSTER_INSTANTIATE_CODEC(muster::kube::NodeStatus);
MUSTER_INSTANTIATE_CODEC(muster::kube::Node);
