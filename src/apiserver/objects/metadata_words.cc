#include "apiserver/objects/metadata_words.h"

#include "kube/values/name_syntax.h"

namespace muster::apiserver {

const std::string_view kDnsLabelMessage =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
    "must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used "
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const std::string_view kDns1035LabelMessage =
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
    "alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', "
    "regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
const std::string_view kDnsSubdomainMessage =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const std::string_view kQualifiedNameMessage =
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end "
    "with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
    "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const std::string_view kLabelValueMessage =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  "
    "or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

namespace {

constexpr std::size_t kAnnotationBytes = 256 * 1024;

}  // namespace

bool is_qualified_name(std::string_view text) { return kube::label_key_problem(text).empty(); }

void check_annotations(const json::object& annotations, const std::string& field,
                       FieldErrors& field_errors) {
    std::size_t bytes = 0;
    for (const auto& entry : annotations) {
        if (!is_qualified_name(entry.key()))
            field_errors.push_back(
                invalid_value(field, json::value(entry.key()), kQualifiedNameMessage));
        bytes += entry.key().size();
        if (const json::string* text = entry.value().if_string()) bytes += text->size();
    }
    if (bytes > kAnnotationBytes) field_errors.push_back(too_long(field, kAnnotationBytes));
}

void check_labels(const json::object& labels, const std::string& field, FieldErrors& field_errors) {
    for (const auto& entry : labels) {
        if (!is_qualified_name(entry.key()))
            field_errors.push_back(
                invalid_value(field, json::value(entry.key()), kQualifiedNameMessage));
        const json::string* value = entry.value().if_string();
        if (value == nullptr)
            field_errors.push_back(invalid_value(field, entry.value(), "must be a string"));
        else if (value->size() > kube::kMaxLabelName)
            field_errors.push_back(
                invalid_value(field, entry.value(), "must be no more than 63 characters"));
        else if (!kube::label_value_problem(*value).empty())
            field_errors.push_back(invalid_value(field, entry.value(), kLabelValueMessage));
    }
}

}  // namespace muster::apiserver
