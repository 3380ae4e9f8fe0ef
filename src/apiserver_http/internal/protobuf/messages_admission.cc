#include "apiserver_http/internal/protobuf/message_tables.h"

namespace muster::apiserver_http {

const std::string_view kAdmissionMessages = R"(
MutatingWebhookConfiguration : admissionregistration.k8s.io/v1 MutatingWebhookConfiguration
  1 metadata ObjectMeta, 2 webhooks []MutatingWebhook

MutatingWebhook
  1 name! string, 2 clientConfig! WebhookClientConfig, 3 rules []RuleWithOperations,
  4 failurePolicy *string, 5 namespaceSelector LabelSelector, 6 sideEffects *string,
  7 timeoutSeconds *int32, 8 admissionReviewVersions []string, 9 matchPolicy *string,
  10 reinvocationPolicy *string, 11 objectSelector LabelSelector,
  12 matchConditions []MatchCondition

ValidatingWebhookConfiguration : admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration
  1 metadata ObjectMeta, 2 webhooks []ValidatingWebhook

ValidatingWebhook
  1 name! string, 2 clientConfig! WebhookClientConfig, 3 rules []RuleWithOperations,
  4 failurePolicy *string, 5 namespaceSelector LabelSelector, 6 sideEffects *string,
  7 timeoutSeconds *int32, 8 admissionReviewVersions []string, 9 matchPolicy *string,
  10 objectSelector LabelSelector, 11 matchConditions []MatchCondition

RuleWithOperations
  1 operations []string, 2 . WebhookRule

WebhookRule
  1 apiGroups []string, 2 apiVersions []string, 3 resources []string, 4 scope *string

MatchCondition
  1 name! string, 2 expression! string
)";

}  // namespace muster::apiserver_http
