#include <fmt/format.h>

#include <algorithm>

#include "jobs/kind.h"
#include "kube/schema/schema.h"

namespace muster::jobs {
namespace {

/// "spec.a" is above "spec.a.b" and "spec.a[0]".
bool is_above(std::string_view path, std::string_view other) {
    return other.size() > path.size() && other.starts_with(path) &&
           (path.empty() || other[path.size()] == '.' || other[path.size()] == '[');
}

bool is_missing_or_unreadable(const Cause& cause) {
    return cause.reason == "FieldValueTypeInvalid" || cause.reason == "FieldValueRequired";
}

/// Merges three views of the same object. If two of them are about the same field, the rules
/// express it in the terms of a job and win, unless the value could not even be read; a rule that
/// fails because a part above it could not be read is left out.
std::vector<Cause> merge(std::vector<Cause> structural, std::vector<Cause> unread,
                         std::vector<Cause> rules) {
    std::erase_if(structural, [&](const Cause& cause) {
        return std::ranges::find(unread, cause.field, &Cause::field) != unread.end();
    });
    std::ranges::move(unread, std::back_inserter(structural));
    std::erase_if(rules, [&](const Cause& rule) {
        return std::ranges::any_of(structural, [&](const Cause& cause) {
            if (cause.field == rule.field) return cause.reason == "FieldValueTypeInvalid";
            return is_missing_or_unreadable(cause) && is_above(cause.field, rule.field);
        });
    });
    std::erase_if(structural, [&](const Cause& cause) {
        return std::ranges::any_of(rules, [&](const Cause& rule) {
            // The schema names the whole item of a keyed list, the rule its key.
            return cause.field == rule.field ||
                   (cause.reason == "FieldValueDuplicate" && rule.reason == cause.reason &&
                    is_above(cause.field, rule.field));
        });
    });
    std::ranges::move(rules, std::back_inserter(structural));
    return structural;
}

Review look(const JobKind& kind, const json::value& object, const Platform& platform) {
    std::vector<Cause> structural = kube::validate(*object_schema(kind), object);
    // We write the status; one in a manifest is not an error.
    std::erase_if(structural, [](const Cause& cause) {
        return cause.field == "status" || is_above("status", cause.field);
    });
    std::vector<Cause> unread;
    Review review{.job = kind.decode(object, unread), .problems = {}, .warnings = {}};
    review.job.platform = platform;
    review.problems = merge(std::move(structural), std::move(unread), validate(review.job));
    return review;
}

}  // namespace

Review review(const JobKind& kind, const json::value& object, const Platform& platform) {
    Review review = look(kind, object, platform);
    review.warnings = warnings(review.job);
    // Refused fields need no advice.
    std::erase_if(review.warnings, [&](const Cause& warning) {
        return std::ranges::find(review.problems, warning.field, &Cause::field) !=
               review.problems.end();
    });
    apply_defaults(review.job);
    return review;
}

Result<Job> load(const JobKind& kind, const json::value& object, const Platform& platform) {
    Review review = look(kind, object, platform);
    if (!review.problems.empty()) {
        std::string text;
        for (const Cause& cause : review.problems)
            text += fmt::format("{}{}: {}", text.empty() ? "" : "; ",
                                cause.field.empty() ? "the object" : cause.field, cause.message);
        return std::move(
            Error(Code::kInvalid, fmt::format("{} \"{}\" is invalid: {}", kind.resource.kind,
                                              review.job.metadata.name, text))
                .with_causes(std::move(review.problems)));
    }
    apply_defaults(review.job);
    return std::move(review.job);
}

}  // namespace muster::jobs
