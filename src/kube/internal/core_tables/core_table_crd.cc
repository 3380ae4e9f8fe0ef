#include "kube/internal/core_tables/core_tables.h"

namespace muster::kube {

const std::string_view kCrdTable = R"(
CustomResourceDefinition
  apiVersion  string
  kind        string
  metadata    ObjectMeta
  spec!       CustomResourceDefinitionSpec
  status      CustomResourceDefinitionStatus

CustomResourceDefinitionSpec
  group!                 string
  names!                 CustomResourceDefinitionNames
  scope!                 string
  versions!              []CustomResourceDefinitionVersion
  conversion             CustomResourceConversion
  preserveUnknownFields  bool

CustomResourceDefinitionNames
  plural!     string
  singular    string
  shortNames  []string
  kind!       string
  listKind    string
  categories  []string

CustomResourceDefinitionVersion
  name!                     string
  served!                   bool
  storage!                  bool
  deprecated                bool
  deprecationWarning        *string
  schema                    CustomResourceValidation
  subresources              CustomResourceSubresources
  additionalPrinterColumns  []CustomResourceColumnDefinition
  selectableFields          []SelectableField

CustomResourceValidation
  openAPIV3Schema  object

CustomResourceSubresources
  status  object
  scale   CustomResourceSubresourceScale

CustomResourceSubresourceScale
  specReplicasPath!    string
  statusReplicasPath!  string
  labelSelectorPath    *string

CustomResourceColumnDefinition
  name!        string
  type!        string
  format       string
  description  string
  priority     int32
  jsonPath!    string

SelectableField
  jsonPath!  string

CustomResourceConversion
  strategy!  string
  webhook    WebhookConversion

WebhookConversion
  clientConfig               WebhookClientConfig
  conversionReviewVersions!  []string

WebhookClientConfig
  url       *string
  service   WebhookServiceReference
  caBundle  bytes

WebhookServiceReference
  namespace!  string
  name!       string
  path        *string
  port        *int32

CustomResourceDefinitionStatus
  conditions      []KindCondition keys=type
  acceptedNames   CustomResourceDefinitionNames
  storedVersions  []string

APIService
  apiVersion  string
  kind        string
  metadata    ObjectMeta
  spec        APIServiceSpec
  status      APIServiceStatus

APIServiceSpec
  service                APIServiceReference
  group                  string
  version                string
  insecureSkipTLSVerify  bool
  caBundle               bytes
  groupPriorityMinimum   int32
  versionPriority        int32

APIServiceReference
  namespace  string
  name       string
  port       *int32

APIServiceStatus
  conditions  []KindCondition keys=type merge
)";

}  // namespace muster::kube
