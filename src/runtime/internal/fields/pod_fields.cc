#include "runtime/internal/fields/pod_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <functional>
#include <map>

#include "base/fields.h"
#include "kube/objects/codec.h"
#include "runtime/internal/network/pod_dns.h"

namespace muster::runtime {

namespace {

/// A path in each line, its treatment, and for `named` the values that ask for nothing else than
/// what pods get anyway. {a,b} stands for two paths.
constexpr std::string_view kTable = R"(
activeDeadlineSeconds honoured
affinity named
automountServiceAccountToken honoured
dnsConfig judged
dnsPolicy judged
enableServiceLinks documented
ephemeralContainers documented
hostAliases[].{ip,hostnames} honoured
hostIPC named false
hostNetwork named false
hostPID named false
hostUsers named true
{hostname,subdomain} honoured
imagePullSecrets documented
nodeName honoured
nodeSelector judged
os.name named linux
overhead named
preemptionPolicy documented
priority named 0
priorityClassName named
readinessGates named
resourceClaims named
resources named
restartPolicy honoured
runtimeClassName named
schedulerName named default-scheduler
schedulingGates[].name honoured
securityContext judged
{serviceAccount,serviceAccountName} honoured
setHostnameAsFQDN named false
shareProcessNamespace documented
terminationGracePeriodSeconds honoured
tolerations documented
topologySpreadConstraints named
volumes[].name honoured
volumes[].configMap.{name,defaultMode,optional} honoured
volumes[].configMap.items[].{key,path,mode} honoured
volumes[].downwardAPI.defaultMode honoured
volumes[].downwardAPI.items[].{path,mode} honoured
volumes[].downwardAPI.items[].fieldRef.{apiVersion,fieldPath} honoured
volumes[].downwardAPI.items[].resourceFieldRef.{containerName,resource,divisor} honoured
volumes[].emptyDir.medium named Memory
volumes[].emptyDir.sizeLimit judged
volumes[].ephemeral documented
volumes[].hostPath.{path,type} honoured
volumes[].persistentVolumeClaim.{claimName,readOnly} honoured
volumes[].projected.defaultMode honoured
volumes[].projected.sources[].{configMap,secret}.{name,optional} honoured
volumes[].projected.sources[].{configMap,secret}.items[].{key,path,mode} honoured
volumes[].projected.sources[].downwardAPI.items[].{path,mode} honoured
volumes[].projected.sources[].downwardAPI.items[].fieldRef.{apiVersion,fieldPath} honoured
volumes[].projected.sources[].downwardAPI.items[].resourceFieldRef.{containerName,resource,divisor} honoured
volumes[].projected.sources[].serviceAccountToken.{audience,expirationSeconds,path} honoured
volumes[].projected.sources[].clusterTrustBundle refused
volumes[].secret.{secretName,defaultMode,optional} honoured
volumes[].secret.items[].{key,path,mode} honoured
volumes[].{awsElasticBlockStore,azureDisk,azureFile,cephfs,cinder,csi,fc,flexVolume} refused
volumes[].{flocker,gcePersistentDisk,gitRepo,glusterfs,image,iscsi,nfs} refused
volumes[].{photonPersistentDisk,portworxVolume,quobyte,rbd,scaleIO,storageos,vsphereVolume} refused
{containers,initContainers}[].{name,command,args,workingDir,stdin,stdinOnce,tty} honoured
{containers,initContainers}[].{image,imagePullPolicy,resizePolicy} documented
{containers,initContainers}[].{terminationMessagePath,terminationMessagePolicy} honoured
{containers,initContainers}[].env[].{name,value} honoured
{containers,initContainers}[].env[].valueFrom.fieldRef.{apiVersion,fieldPath} honoured
{containers,initContainers}[].env[].valueFrom.resourceFieldRef.{containerName,resource,divisor} honoured
{containers,initContainers}[].env[].valueFrom.{configMapKeyRef,secretKeyRef}.{name,key,optional} honoured
{containers,initContainers}[].envFrom[].prefix honoured
{containers,initContainers}[].envFrom[].{configMapRef,secretRef}.{name,optional} honoured
{containers,initContainers}[].lifecycle.stopSignal honoured
{containers,initContainers}[].lifecycle.{postStart,preStop}.exec.command honoured
{containers,initContainers}[].lifecycle.{postStart,preStop}.httpGet.{path,port} honoured
{containers,initContainers}[].lifecycle.{postStart,preStop}.httpGet.{host,scheme} judged
{containers,initContainers}[].lifecycle.{postStart,preStop}.httpGet.httpHeaders[].{name,value} honoured
{containers,initContainers}[].lifecycle.{postStart,preStop}.sleep.seconds honoured
{containers,initContainers}[].lifecycle.{postStart,preStop}.tcpSocket.host judged
{containers,initContainers}[].lifecycle.{postStart,preStop}.tcpSocket.port honoured
{containers,initContainers}[].{livenessProbe,readinessProbe,startupProbe}.exec.command honoured
{containers,initContainers}[].{livenessProbe,readinessProbe,startupProbe}.grpc refused
{containers,initContainers}[].{livenessProbe,readinessProbe,startupProbe}.httpGet.{path,port} honoured
{containers,initContainers}[].{livenessProbe,readinessProbe,startupProbe}.httpGet.{host,scheme} judged
{containers,initContainers}[].{livenessProbe,readinessProbe,startupProbe}.httpGet.httpHeaders[].{name,value} honoured
{containers,initContainers}[].{livenessProbe,readinessProbe,startupProbe}.tcpSocket.host judged
{containers,initContainers}[].{livenessProbe,readinessProbe,startupProbe}.tcpSocket.port honoured
{containers,initContainers}[].{livenessProbe,readinessProbe,startupProbe}.initialDelaySeconds honoured
{containers,initContainers}[].{livenessProbe,readinessProbe,startupProbe}.{periodSeconds,timeoutSeconds} honoured
{containers,initContainers}[].{livenessProbe,readinessProbe,startupProbe}.{failureThreshold,successThreshold} honoured
{containers,initContainers}[].{livenessProbe,readinessProbe,startupProbe}.terminationGracePeriodSeconds honoured
{containers,initContainers}[].ports[].{name,containerPort,protocol} honoured
{containers,initContainers}[].ports[].{hostIP,hostPort} named
{containers,initContainers}[].resources.{limits,requests} judged
{containers,initContainers}[].resources.claims named
containers[].restartPolicy named
initContainers[].restartPolicy honoured
{containers,initContainers}[].securityContext judged
{containers,initContainers}[].volumeDevices named
{containers,initContainers}[].volumeMounts[].{name,readOnly,mountPath,subPath,subPathExpr} honoured
{containers,initContainers}[].volumeMounts[].mountPropagation named None
{containers,initContainers}[].volumeMounts[].recursiveReadOnly named Disabled IfPossible
)";

struct Rule {
    FieldTreatment treatment = FieldTreatment::kHonoured;
    std::vector<std::string> usual;  ///< values, as JSON writes them but for quotes
};
using Rules = std::map<std::string, Rule, std::less<>>;

FieldTreatment treatment_named(std::string_view word) {
    if (word == "honoured") return FieldTreatment::kHonoured;
    if (word == "refused") return FieldTreatment::kRefused;
    if (word == "named") return FieldTreatment::kNamed;
    return word == "judged" ? FieldTreatment::kJudged : FieldTreatment::kDocumented;
}

/// Adds the rule to all paths that the pattern stands for.
void add_rule(Rules& rules, const std::string& pattern, const Rule& rule) {
    const std::size_t open = pattern.find('{');
    if (open == std::string::npos) {
        rules.emplace(pattern, rule);
        return;
    }
    const std::size_t close = pattern.find('}', open);
    std::string_view choices = std::string_view(pattern).substr(open + 1, close - open - 1);
    while (!choices.empty())
        add_rule(rules,
                 fmt::format("{}{}{}", std::string_view(pattern).substr(0, open),
                             take_field(choices, ','), std::string_view(pattern).substr(close + 1)),
                 rule);
}

Rules read_table() {
    Rules rules;
    std::string_view lines = kTable;
    while (!lines.empty()) {
        std::string_view line = take_field(lines, '\n');
        if (line.empty()) continue;
        const std::string pattern(take_field(line, ' '));
        Rule rule{.treatment = treatment_named(take_field(line, ' ')), .usual = {}};
        while (!line.empty()) rule.usual.emplace_back(take_field(line, ' '));
        add_rule(rules, pattern, rule);
    }
    return rules;
}

const Rules& rules() {
    static const Rules kRules = read_table();
    return kRules;
}

bool is_unset(const json::value& value) {
    if (const json::string* text = value.if_string()) return text->empty();
    if (const json::array* list = value.if_array()) return list->empty();
    if (const json::object* fields = value.if_object()) return fields->empty();
    return value.is_null();
}

bool is_usual(const json::value& value, const Rule& rule) {
    const json::string* text = value.if_string();
    const std::string written = text != nullptr ? std::string(*text) : json::serialize(value);
    return std::ranges::find(rule.usual, written) != rule.usual.end();
}

/// Collects the fields that get one treatment whatever else the pod says.
class TreatedFields {
  public:
    explicit TreatedFields(FieldTreatment treatment) : treatment_(treatment) {}

    /// As a manifest names them, after `prefix`.
    std::vector<std::string> of(const json::object& spec, const std::string& prefix) && {
        look_at_all(spec, "", prefix);
        return std::move(names_);
    }

  private:
    void look_at_all(const json::object& fields, const std::string& path,
                     const std::string& shown) {
        for (const auto& [key, value] : fields)
            look_at(value, path + std::string(key), shown + std::string(key));
    }

    void look_at(const json::value& value, const std::string& path, const std::string& shown) {
        if (is_unset(value)) return;
        if (const auto rule = rules().find(path); rule != rules().end()) {
            if (rule->second.treatment == treatment_ && !is_usual(value, rule->second))
                names_.push_back(shown);
            return;
        }
        if (const json::object* fields = value.if_object())
            return look_at_all(*fields, path + ".", shown + ".");
        if (const json::array* items = value.if_array())
            for (std::size_t i = 0; i < items->size(); ++i)
                look_at((*items)[i], path + "[]", fmt::format("{}[{}]", shown, i));
    }

    FieldTreatment treatment_;
    std::vector<std::string> names_;
};

}  // namespace

std::optional<FieldTreatment> treatment_of(std::string_view path) {
    const auto found = rules().find(path);
    return found == rules().end() ? std::nullopt : std::optional(found->second.treatment);
}

std::vector<std::string> treated_paths() {
    std::vector<std::string> paths;
    for (const auto& [path, rule] : rules()) paths.push_back(path);
    return paths;
}

std::vector<std::string> refused_volumes(const kube::PodSpec& spec) {
    kube::PodSpec with_volumes;
    with_volumes.volumes = spec.volumes;
    const json::value encoded = kube::encode(with_volumes);
    return TreatedFields(FieldTreatment::kRefused).of(encoded.get_object(), "");
}

std::vector<std::string> fields_without_effect(const kube::PodSpec& spec, bool namespaces) {
    const json::value encoded = kube::encode(spec);
    std::vector<std::string> fields =
        TreatedFields(FieldTreatment::kNamed).of(encoded.get_object(), "spec.");
    // With one node there is no choice, so a manifest for a cluster runs as it is.
    if (std::ranges::any_of(spec.node_selector,
                            [](const auto& entry) { return entry.first != "kubernetes.io/os"; }))
        fields.emplace_back("spec.nodeSelector");
    for (std::size_t i = 0; i < spec.volumes.size(); ++i)
        if (const auto& empty = spec.volumes[i].empty_dir;
            empty && empty->medium != "Memory" && !empty->size_limit.is_null())
            fields.push_back(fmt::format("spec.volumes[{}].emptyDir.sizeLimit", i));
    if (!namespaces && pod_dns(spec))
        fields.emplace_back("spec.dnsConfig (pods share this machine's files and network here)");
    return fields;
}

}  // namespace muster::runtime
