#include "kube/internal/core_tables/core_tables.h"

namespace muster::kube {

const std::string_view kNetworkTable = R"(
Endpoints
  apiVersion  string
  kind        string
  metadata    ObjectMeta
  subsets     []EndpointSubset

EndpointSubset
  addresses          []EndpointAddress
  notReadyAddresses  []EndpointAddress
  ports              []EndpointPort

EndpointAddress atomic
  hostname   string
  ip!        string
  nodeName   *string
  targetRef  ObjectReference

EndpointPort atomic
  appProtocol  *string
  name         string
  port!        int32
  protocol     string

EndpointSlice
  apiVersion    string
  kind          string
  metadata      ObjectMeta
  addressType!  string
  endpoints     []Endpoint
  ports         []EndpointSlicePort

Endpoint
  addresses!          []string set
  conditions          EndpointConditions
  deprecatedTopology  map[string]
  hints               EndpointHints
  hostname            *string
  nodeName            *string
  targetRef           ObjectReference
  zone                *string

EndpointSlicePort atomic
  appProtocol  *string
  name         *string
  port         *int32
  protocol     *string

EndpointConditions
  ready        *bool
  serving      *bool
  terminating  *bool

EndpointHints
  forNodes  []ForNode
  forZones  []ForZone

ForNode
  name!  string

ForZone
  name!  string

NetworkPolicy
  apiVersion  string
  kind        string
  metadata    ObjectMeta
  spec        NetworkPolicySpec

NetworkPolicySpec
  egress       []NetworkPolicyEgressRule
  ingress      []NetworkPolicyIngressRule
  podSelector  LabelSelector
  policyTypes  []string

NetworkPolicyEgressRule
  ports  []NetworkPolicyPort
  to     []NetworkPolicyPeer

NetworkPolicyIngressRule
  from   []NetworkPolicyPeer
  ports  []NetworkPolicyPort

NetworkPolicyPort
  endPort   *int32
  port      intstr
  protocol  *string

NetworkPolicyPeer
  ipBlock            IPBlock
  namespaceSelector  LabelSelector
  podSelector        LabelSelector

IPBlock
  cidr!   string
  except  []string

Ingress
  apiVersion  string
  kind        string
  metadata    ObjectMeta
  spec        IngressSpec
  status      IngressStatus

IngressSpec
  defaultBackend    IngressBackend
  ingressClassName  *string
  rules             []IngressRule
  tls               []IngressTLS

IngressStatus
  loadBalancer  IngressLoadBalancerStatus

IngressBackend
  resource  TypedLocalObjectReference
  service   IngressServiceBackend

IngressRule
  host  string
  http  HTTPIngressRuleValue

IngressTLS
  hosts       []string
  secretName  string

IngressLoadBalancerStatus
  ingress  []IngressLoadBalancerIngress

IngressServiceBackend
  name!  string
  port   ServiceBackendPort

HTTPIngressRuleValue
  paths!  []HTTPIngressPath

IngressLoadBalancerIngress
  hostname  string
  ip        string
  ports     []IngressPortStatus

ServiceBackendPort atomic
  name    string
  number  int32

HTTPIngressPath
  backend!   IngressBackend
  path       string
  pathType!  string

IngressPortStatus
  error     *string
  port      *int32
  protocol  *string

IngressClass
  apiVersion  string
  kind        string
  metadata    ObjectMeta
  spec        IngressClassSpec

IngressClassSpec
  controller  string
  parameters  IngressClassParametersReference

IngressClassParametersReference
  apiGroup   *string
  kind!      string
  name!      string
  namespace  *string
  scope      *string
)";

}  // namespace muster::kube
