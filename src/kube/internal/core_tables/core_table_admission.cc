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
  failurePolicy             string
  matchPolicy               string
  namespaceSelector         LabelSelector
  objectSelector            LabelSelector
  sideEffects!              string
  timeoutSeconds            int32
  admissionReviewVersions!  []string
  reinvocationPolicy        string
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
  failurePolicy             string
  matchPolicy               string
  namespaceSelector         LabelSelector
  objectSelector            LabelSelector
  sideEffects!              string
  timeoutSeconds            int32
  admissionReviewVersions!  []string
  matchConditions           []MatchCondition keys=name merge

RuleWithOperations
  operations   []string
  apiGroups    []string
  apiVersions  []string
  resources    []string
  scope        string

MatchCondition
  name!        string
  expression!  string
)";

}  // namespace muster::kube
