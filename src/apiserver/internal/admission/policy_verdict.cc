#include "apiserver/internal/admission/policy_verdict.h"

#include <fmt/format.h>

#include "base/trimmed.h"
#include "base/utf8.h"

namespace muster::apiserver {
namespace {

// Upstream's figures: k8s.io/apiserver v0.33, pkg/apis/cel/config.go, and dispatcher.go.
constexpr std::uint64_t kPolicyBudget = 10'000'000;
constexpr std::size_t kLongestPolicyMessage = std::size_t{5} * 1024;
constexpr std::size_t kMostOfAnAnnotation = std::size_t{10} * 1024;

class PolicyEvaluation {
  public:
    PolicyEvaluation(const Policy& policy, const WriteInQuestion& write,
                     cel::Authorizer& authorizer, std::uint64_t at_once)
        : policy_(policy), write_(write), authorizer_(authorizer), at_once_(at_once) {}

    PolicyVerdict run() {
        if (!conditions_hold() || verdict_.unfinished) return std::move(verdict_);
        validate();
        if (!verdict_.unfinished) annotate();
        return std::move(verdict_);
    }

  private:
    AdmissionEvaluator evaluator(const PolicyVariables* variables) {
        return {write_, variables, authorizer_, at_once_};
    }
    void fail(std::size_t validation, std::string message) {
        if (!policy_.ignores_failure)
            verdict_.denials.push_back({validation, std::move(message), {}});
    }

    bool conditions_hold() {
        AdmissionEvaluator evaluator = this->evaluator(nullptr);
        ConditionVerdict said = evaluate_conditions(policy_.conditions, evaluator);
        verdict_.unfinished = evaluator.is_unfinished();
        if (!said.error.empty()) fail(0, std::move(said.error));
        return said.matches;
    }

    void validate() {
        AdmissionEvaluator evaluator = this->evaluator(&policy_.variables);
        ExpressionBudget budget{kPolicyBudget};
        std::vector<std::expected<bool, std::string>> results;
        for (const Policy::Validation& validation : policy_.validations) {
            auto value = evaluator.evaluate(validation.expression, budget);
            if (!value) {
                verdict_.unfinished = evaluator.is_unfinished();
                return fail(0, std::string(kOutOfBudget));
            }
            if (*value) {
                const bool* holds = (*value)->as<bool>();
                results.emplace_back(holds != nullptr && *holds);
            } else {
                results.emplace_back(std::unexpected(std::move(*value).error()));
            }
        }
        const std::vector<std::string> messages = messages_within(budget);
        if (verdict_.unfinished) return;
        for (std::size_t i = 0; i < results.size(); ++i) {
            if (!results[i])
                fail(i, std::move(results[i]).error());
            else if (messages.size() != results.size())
                fail(i, fmt::format("failed messageExpression: {}", kOutOfBudget));
            else if (!*results[i])
                verdict_.denials.push_back({i, messages[i], policy_.validations[i].reason});
        }
    }

    /// Of each validation, whether it failed or not; fewer if the budget has ended.
    std::vector<std::string> messages_within(ExpressionBudget budget) {
        AdmissionEvaluator evaluator = this->evaluator(&policy_.variables);
        std::vector<std::string> messages;
        for (const Policy::Validation& validation : policy_.validations) {
            std::string message;
            if (validation.message_expression) {
                const auto value = evaluator.evaluate(*validation.message_expression, budget);
                if (!value) {
                    verdict_.unfinished = evaluator.is_unfinished();
                    return messages;
                }
                message = usable(*value);
            }
            if (message.empty()) message = trimmed(validation.message, kTextBlanks);
            if (message.empty())
                message = fmt::format("failed expression: {}",
                                      trimmed(validation.expression.source, kTextBlanks));
            messages.push_back(std::move(message));
        }
        return messages;
    }
    static std::string usable(const std::expected<cel::Value, std::string>& value) {
        const cel::Text* text = value ? value->string() : nullptr;
        if (text == nullptr) return {};
        const std::string_view message = trimmed(text->view(), kTextBlanks);
        const bool good =
            message.size() <= kLongestPolicyMessage && message.find('\n') == message.npos;
        return good ? std::string(message) : std::string();
    }

    void annotate() {
        AdmissionEvaluator evaluator = this->evaluator(&policy_.variables);
        ExpressionBudget budget{kPolicyBudget};
        for (const Policy::AuditAnnotation& annotation : policy_.audit_annotations) {
            auto value = evaluator.evaluate(annotation.expression, budget);
            if (!value) {
                verdict_.unfinished = evaluator.is_unfinished();
                verdict_.denials.clear();
                return fail(0, std::string(kOutOfBudget));
            }
            if (!*value) {
                if (!policy_.ignores_failure)
                    verdict_.failed_annotations.push_back(std::move(*value).error());
            } else if (const cel::Text* text = (*value)->string()) {
                const std::string_view shown = trimmed(text->view(), kTextBlanks);
                if (!shown.empty())
                    verdict_.annotations.push_back(
                        {annotation.key, std::string(cut_utf8(shown, kMostOfAnAnnotation))});
            }
        }
    }

    const Policy& policy_;
    const WriteInQuestion& write_;
    cel::Authorizer& authorizer_;
    std::uint64_t at_once_;
    PolicyVerdict verdict_;
};

}  // namespace

PolicyVerdict evaluate_policy(const Policy& policy, const WriteInQuestion& write,
                              cel::Authorizer& authorizer, std::uint64_t at_once) {
    return PolicyEvaluation(policy, write, authorizer, at_once).run();
}

}  // namespace muster::apiserver
