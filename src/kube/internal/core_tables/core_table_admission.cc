#include "kube/internal/core_tables/core_tables.h"

namespace muster::kube {

const std::string_view kAdmissionTable = R"(
MutatingWebhookConfiguration
  apiVersion  string
  kind        string
  metadata    ObjectMeta
  webhooks    []MutatingWebhook keys=name merge

MutatingWebhook
  name!                     string
  clientConfig!             WebhookClientConfig
  rules                     []RuleWithOperations
  failurePolicy             *string
  matchPolicy               *string
  namespaceSelector         LabelSelector
  objectSelector            LabelSelector
  sideEffects!              string
  timeoutSeconds            *int32
  admissionReviewVersions!  []string
  reinvocationPolicy        *string
  matchConditions           []MatchCondition keys=name merge

ValidatingWebhookConfiguration
  apiVersion  string
  kind        string
  metadata    ObjectMeta
  webhooks    []ValidatingWebhook keys=name merge

ValidatingWebhook
  name!                     string
  clientConfig!             WebhookClientConfig
  rules                     []RuleWithOperations
  failurePolicy             *string
  matchPolicy               *string
  namespaceSelector         LabelSelector
  objectSelector            LabelSelector
  sideEffects!              string
  timeoutSeconds            *int32
  admissionReviewVersions!  []string
  matchConditions           []MatchCondition keys=name merge

RuleWithOperations
  operations   []string
  apiGroups    []string
  apiVersions  []string
  resources    []string
  scope        *string

MatchCondition
  name!        string
  expression!  string

ValidatingAdmissionPolicy
  apiVersion  string
  kind        string
  metadata    ObjectMeta
  spec        ValidatingAdmissionPolicySpec
  status      ValidatingAdmissionPolicyStatus

ValidatingAdmissionPolicySpec
  paramKind         ParamKind
  matchConstraints  MatchResources
  validations       []PolicyValidation
  failurePolicy     *string
  auditAnnotations  []PolicyAuditAnnotation
  matchConditions   []MatchCondition keys=name merge
  variables         []PolicyVariable keys=name merge

ParamKind atomic
  apiVersion  string
  kind        string

MatchResources atomic
  namespaceSelector     LabelSelector
  objectSelector        LabelSelector
  resourceRules         []NamedRuleWithOperations
  excludeResourceRules  []NamedRuleWithOperations
  matchPolicy           *string

NamedRuleWithOperations atomic
  resourceNames  []string
  operations     []string
  apiGroups      []string
  apiVersions    []string
  resources      []string
  scope          *string

PolicyValidation
  expression!        string
  message            string
  reason             *string
  messageExpression  string

PolicyAuditAnnotation
  key!              string
  valueExpression!  string

PolicyVariable atomic
  name!        string
  expression!  string

ValidatingAdmissionPolicyStatus
  observedGeneration  int64
  typeChecking        PolicyTypeChecking
  conditions          []Condition keys=type

PolicyTypeChecking
  expressionWarnings  []PolicyExpressionWarning

PolicyExpressionWarning
  fieldRef!  string
  warning!   string

ValidatingAdmissionPolicyBinding
  apiVersion  string
  kind        string
  metadata    ObjectMeta
  spec        ValidatingAdmissionPolicyBindingSpec

ValidatingAdmissionPolicyBindingSpec
  policyName         string
  paramRef           ParamRef
  matchResources     MatchResources
  validationActions  []string set

ParamRef atomic
  name                     string
  namespace                string
  selector                 LabelSelector
  parameterNotFoundAction  *string
)";

}  // namespace muster::kube
