#include <map>
#include <utility>
#include <vector>

#include "apiserver_http/field_descriptions.h"
#include "apiserver_http/internal/discovery/description_texts.h"

namespace muster::apiserver_http {

namespace {

constexpr std::string_view kTexts = R"(
PodStatus        What was seen of a pod last.
  phase          Pending, Running, Succeeded, Failed or Unknown.
  conditions     What holds for the pod now, and since when.
  message        Why it is in this state, for people.
  reason         Why it is in this state, in one word.
  startTime      When its node took it.
  podIP          Its address.
  podIPs         Its addresses, one a family.
  hostIP         The address of its node.
  initContainerStatuses The state of each init container.
  containerStatuses The state of each container.
  qosClass       Guaranteed, Burstable or BestEffort, as requests and limits say.
Namespace        A room for names; most objects live in one.
  spec           What has to agree before it can be deleted.
  status         Whether it is in use or being deleted.
Node             A machine that runs pods.
  spec           What it is told.
  status         What it tells.
NodeSpec         What a node is told.
  unschedulable  Keeps new pods away.
  taints         Keep pods away that do not tolerate them.
Event            Something that happened to an object.
  involvedObject What it happened to.
  reason         What happened, in one word.
  message        What happened, in a sentence.
  type           Normal or Warning.
  count          How often it happened.
  firstTimestamp When it happened first.
  lastTimestamp  When it happened last.
NewEvent         Something that happened to an object.
  regarding      What it happened to.
  related        Another object that has to do with it.
  eventTime      When it was seen first.
  series         How often it happened since, and when last; absent if once.
  action         What was done, or failed to be done.
  reason         Why that was done, in one word.
  note           What happened, in a sentence.
  type           Normal or Warning.
  reportingController What reports it.
  reportingInstance Which of its instances.
ServiceAccount   A user for programs, such as those in pods.
  secrets        Secrets that its pods may use.
  imagePullSecrets Secrets with which images of its pods are pulled.
  automountServiceAccountToken Whether its pods get a token.
PodDisruptionBudget How many of some pods may be evicted at a time.
  spec           Which pods, and how many have to stay.
  status         How many there are, and how many may be evicted now. The server writes it.
PodDisruptionBudgetSpec Which pods, and how many of them have to stay.
  minAvailable   How many have to stay healthy: a number, or a percentage of those wanted.
  maxUnavailable How many may be missing: a number, or a percentage of those wanted.
  selector       The labels of the pods. Without it the budget covers none.
  unhealthyPodEvictionPolicy Whether pods that are not ready may always go: AlwaysAllow, or IfHealthyBudget.
PodDisruptionBudgetStatus How many pods there are, and how many may be evicted now.
  disruptionsAllowed How many may be evicted now.
  currentHealthy How many are healthy.
  desiredHealthy How many have to be healthy.
  expectedPods   How many are wanted.
  disruptedPods  Pods whose eviction was let through and that are still there.
Lease            Who holds something, and until when: leaders and heartbeats.
  spec           The holder and the times.
LeaseSpec        Who holds a lease, and until when.
  holderIdentity The holder; empty: none.
  leaseDurationSeconds How long after renewTime others may take it.
  acquireTime    Since when the holder has it.
  renewTime      When it was renewed last.
  leaseTransitions How often the holder changed.
CustomResourceDefinition Adds a kind to the API.
  spec           What the kind is called, and its versions.
  status         Whether it is served.
CustomResourceDefinitionSpec What a kind is called, and its versions.
  group          The group that it belongs to.
  names          How it is called.
  scope          Cluster or Namespaced.
  versions       Its versions. One of them is the stored one.
APIService       Who serves a version of a group of the API. Its name is VERSION.GROUP.
  spec           The version, and the server.
  status         Whether the server can be reached.
APIServiceSpec   A version of a group, and who serves it.
  service        The service of the server; absent: this server.
  group          The group.
  version        The version.
  insecureSkipTLSVerify Accepts any certificate of the server. Whoever is in between can read and change everything.
  caBundle       The certificates by which the server is trusted; absent: those that this machine trusts.
  groupPriorityMinimum Where the group stands among all groups: higher ones come first. From 1 to 20000.
  versionPriority Where the version stands in its group: higher ones come first. From 1 to 1000.
APIServiceReference A port of a service.
  namespace      The namespace of the service.
  name           Its name.
  port           Its port; 443 unless given.
APIServiceStatus Whether the server can be reached. This server writes it.
  conditions     Available: since when, and why not.
Role             Rights in one namespace. A RoleBinding grants them.
  rules          What may be done; whatever no rule allows is refused.
ClusterRole      Rights in the whole cluster, or in the namespaces where a RoleBinding gives them.
  rules          What may be done; whatever no rule allows is refused.
  aggregationRule Makes the rules the sum of those of other roles. The server fills them in.
AggregationRule  The roles whose rules a role combines.
  clusterRoleSelectors The rules of all roles that one of these selects are combined.
PolicyRule       Allows verbs on resources, or on paths.
  verbs          What may be done: get, list, create and the like; * for everything.
  apiGroups      The groups of the resources; empty text for the core group, * for all.
  resources      Plural names, with /NAME for a subresource; * for all.
  resourceNames  The only objects that it is about; absent for all of them.
  nonResourceURLs Paths; a * at the end stands for whatever follows.
RoleBinding      Gives a role to users, groups and service accounts in one namespace.
  subjects       Who has the role.
  roleRef        The role: a Role of the namespace or a ClusterRole. It can't be changed.
ClusterRoleBinding Gives a ClusterRole to users, groups and service accounts everywhere.
  subjects       Who has the role.
  roleRef        The ClusterRole. It can't be changed.
Subject          A user, a group or a service account.
  kind           User, Group or ServiceAccount.
  name           Its name.
  namespace      Of a service account.
RoleRef          The role that a binding gives.
  kind           Role or ClusterRole.
  name           Its name.)";

using Key = std::pair<std::string_view, std::string_view>;

std::string_view without_blanks(std::string_view text) {
    const std::size_t start = text.find_first_not_of(' ');
    return start == std::string_view::npos ? std::string_view() : text.substr(start);
}

constexpr std::string_view kSameAs = "= ";

void copy_fields(std::map<Key, std::string_view>& by_name, std::string_view from,
                 std::string_view to) {
    std::vector<std::pair<Key, std::string_view>> copies;
    for (auto it = by_name.lower_bound(Key(from, {})); it != by_name.end(); ++it) {
        if (it->first.first != from) break;
        copies.emplace_back(Key(to, it->first.second), it->second);
    }
    by_name.insert(copies.begin(), copies.end());
}

const std::map<Key, std::string_view>& descriptions() {
    static const std::map<Key, std::string_view> kByName = [] {
        std::map<Key, std::string_view> by_name;
        for (std::string_view rest : {kTexts, kPodTexts, kStoredTexts}) {
            std::string_view structure;
            while (!rest.empty()) {
                const std::size_t end = std::min(rest.find('\n'), rest.size());
                const std::string_view line = rest.substr(0, end);
                rest.remove_prefix(std::min(end + 1, rest.size()));
                const std::string_view words = without_blanks(line);
                const std::string_view name = words.substr(0, words.find(' '));
                if (name.empty()) continue;
                const bool is_field = line.front() == ' ';
                if (!is_field) structure = name;
                const std::string_view text = without_blanks(words.substr(name.size()));
                if (!is_field && text.starts_with(kSameAs))
                    copy_fields(by_name, text.substr(kSameAs.size()), structure);
                else
                    by_name.emplace(Key(structure, is_field ? name : std::string_view()), text);
            }
        }
        return by_name;
    }();
    return kByName;
}

}  // namespace

std::string_view description_of(std::string_view structure, std::string_view field) {
    const auto it = descriptions().find({structure, field});
    return it == descriptions().end() ? std::string_view() : it->second;
}

void for_each_description(
    const std::function<void(std::string_view structure, std::string_view field)>& visit) {
    for (const auto& [key, text] : descriptions()) visit(key.first, key.second);
}

}  // namespace muster::apiserver_http
