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

ValidatingAdmissionPolicy : admissionregistration.k8s.io/v1 ValidatingAdmissionPolicy
  1 metadata ObjectMeta, 2 spec ValidatingAdmissionPolicySpec,
  3 status ValidatingAdmissionPolicyStatus

ValidatingAdmissionPolicySpec
  1 paramKind ParamKind, 2 matchConstraints MatchResources, 3 validations []PolicyValidation,
  4 failurePolicy *string, 5 auditAnnotations []PolicyAuditAnnotation,
  6 matchConditions []MatchCondition, 7 variables []PolicyVariable

ParamKind
  1 apiVersion string, 2 kind string

MatchResources
  1 namespaceSelector LabelSelector, 2 objectSelector LabelSelector,
  3 resourceRules []NamedRuleWithOperations, 4 excludeResourceRules []NamedRuleWithOperations,
  7 matchPolicy *string

NamedRuleWithOperations
  1 resourceNames []string, 2 . RuleWithOperations

PolicyValidation
  1 expression! string, 2 message string, 3 reason *string, 4 messageExpression string

PolicyAuditAnnotation
  1 key! string, 2 valueExpression! string

PolicyVariable
  1 name! string, 2 expression! string

ValidatingAdmissionPolicyStatus
  1 observedGeneration int64, 2 typeChecking PolicyTypeChecking, 3 conditions []Condition

PolicyTypeChecking
  1 expressionWarnings []PolicyExpressionWarning

PolicyExpressionWarning
  2 fieldRef! string, 3 warning! string

ValidatingAdmissionPolicyBinding : admissionregistration.k8s.io/v1 ValidatingAdmissionPolicyBinding
  1 metadata ObjectMeta, 2 spec ValidatingAdmissionPolicyBindingSpec

ValidatingAdmissionPolicyBindingSpec
  1 policyName string, 2 paramRef ParamRef, 3 matchResources MatchResources,
  4 validationActions []string

ParamRef
  1 name string, 2 namespace string, 3 selector LabelSelector, 4 parameterNotFoundAction *string
)";

}  // namespace muster::apiserver_http
