#pragma once

#include <algorithm>
#include <boost/json/value.hpp>
#include <string>
#include <vector>

#include "kube/objects/object_meta.h"

namespace muster::kube {

struct KeySelector {  // configMapKeyRef, secretKeyRef
    std::string name;
    std::string key;
    std::optional<bool> optional;
};
BOOST_DESCRIBE_STRUCT(KeySelector, (), (name, key, optional))

struct FieldSelector {
    std::string field_path;
    json::object rest;
};
BOOST_DESCRIBE_STRUCT(FieldSelector, (), (field_path, rest))

struct ResourceFieldSelector {
    std::string container_name;
    std::string resource;
    json::value divisor;  ///< a quantity: string or number; null means 1
};
BOOST_DESCRIBE_STRUCT(ResourceFieldSelector, (), (container_name, resource, divisor))

struct EnvVarSource {
    std::optional<FieldSelector> field_ref;
    std::optional<ResourceFieldSelector> resource_field_ref;
    std::optional<KeySelector> config_map_key_ref;
    std::optional<KeySelector> secret_key_ref;
    json::object rest;
};
BOOST_DESCRIBE_STRUCT(EnvVarSource, (),
                      (field_ref, resource_field_ref, config_map_key_ref, secret_key_ref, rest))

struct EnvVar {
    std::string name;
    std::string value;
    std::optional<EnvVarSource> value_from;
};
BOOST_DESCRIBE_STRUCT(EnvVar, (), (name, value, value_from))

struct LocalReference {  // envFrom's configMapRef, secretRef
    std::string name;
    std::optional<bool> optional;
};
BOOST_DESCRIBE_STRUCT(LocalReference, (), (name, optional))

struct EnvFromSource {
    std::string prefix;
    std::optional<LocalReference> config_map_ref;
    std::optional<LocalReference> secret_ref;
};
BOOST_DESCRIBE_STRUCT(EnvFromSource, (), (prefix, config_map_ref, secret_ref))

struct ContainerPort {
    std::string name;
    std::int32_t container_port = 0;
    std::string protocol;
    json::object rest;
};
BOOST_DESCRIBE_STRUCT(ContainerPort, (), (name, container_port, protocol, rest))

struct VolumeMount {
    std::string name;
    std::string mount_path;
    std::string sub_path;
    std::optional<bool> read_only;
    json::object rest;
};
BOOST_DESCRIBE_STRUCT(VolumeMount, (), (name, mount_path, sub_path, read_only, rest))

/// Quantities by resource name ("cpu", "memory", "nvidia.com/gpu"); strings or numbers as they were
/// sent, parsed by quantity.h.
using ResourceList = std::map<std::string, json::value>;

struct ResourceRequirements {
    ResourceList limits;
    ResourceList requests;
    json::object rest;
};
BOOST_DESCRIBE_STRUCT(ResourceRequirements, (), (limits, requests, rest))

struct Container {
    std::string name;
    std::string image;
    std::vector<std::string> command;
    std::vector<std::string> args;
    std::string working_dir;
    std::vector<ContainerPort> ports;
    std::vector<EnvFromSource> env_from;
    std::vector<EnvVar> env;
    ResourceRequirements resources;
    std::vector<VolumeMount> volume_mounts;
    std::string restart_policy;  ///< "Always" on an init container makes it a sidecar
    std::string termination_message_path;
    std::string termination_message_policy;
    json::object rest;
};
BOOST_DESCRIBE_STRUCT(Container, (),
                      (name, image, command, args, working_dir, ports, env_from, env, resources,
                       volume_mounts, restart_policy, termination_message_path,
                       termination_message_policy, rest))

/// Whether a container's command or args say anything: mpi-operator takes [""] for none.
inline bool has_words(const std::vector<std::string>& words) {
    return std::ranges::any_of(words, [](const std::string& word) { return !word.empty(); });
}

struct KeyToPath {
    std::string key;
    std::string path;
    std::optional<std::int32_t> mode;
};
BOOST_DESCRIBE_STRUCT(KeyToPath, (), (key, path, mode))

struct ConfigMapVolumeSource {
    std::string name;
    std::vector<KeyToPath> items;
    std::optional<std::int32_t> default_mode;
    std::optional<bool> optional;
};
BOOST_DESCRIBE_STRUCT(ConfigMapVolumeSource, (), (name, items, default_mode, optional))

struct SecretVolumeSource {
    std::string secret_name;
    std::vector<KeyToPath> items;
    std::optional<std::int32_t> default_mode;
    std::optional<bool> optional;
};
BOOST_DESCRIBE_STRUCT(SecretVolumeSource, (), (secret_name, items, default_mode, optional))

struct EmptyDirVolumeSource {
    std::string medium;      ///< "" or "Memory"
    json::value size_limit;  ///< a quantity, or null
};
BOOST_DESCRIBE_STRUCT(EmptyDirVolumeSource, (), (medium, size_limit))

struct HostPathVolumeSource {
    std::string path;
    std::string type;
};
BOOST_DESCRIBE_STRUCT(HostPathVolumeSource, (), (path, type))

struct Volume {
    std::string name;
    std::optional<ConfigMapVolumeSource> config_map;
    std::optional<SecretVolumeSource> secret;
    std::optional<EmptyDirVolumeSource> empty_dir;
    std::optional<HostPathVolumeSource> host_path;
    json::object rest;  ///< sources that we do not implement; the runtime refuses them by name
};
BOOST_DESCRIBE_STRUCT(Volume, (), (name, config_map, secret, empty_dir, host_path, rest))

struct PodSpec {
    std::vector<Container> init_containers;
    std::vector<Container> containers;
    std::vector<Volume> volumes;
    std::string restart_policy;
    std::optional<std::int64_t> termination_grace_period_seconds;
    std::optional<std::int64_t> active_deadline_seconds;
    std::string node_name;
    std::map<std::string, std::string> node_selector;
    std::string service_account_name;
    std::string scheduler_name;
    std::string hostname;
    std::string subdomain;
    std::optional<bool> host_network;
    std::string priority_class_name;
    json::object rest;
};
BOOST_DESCRIBE_STRUCT(PodSpec, (),
                      (init_containers, containers, volumes, restart_policy,
                       termination_grace_period_seconds, active_deadline_seconds, node_name,
                       node_selector, service_account_name, scheduler_name, hostname, subdomain,
                       host_network, priority_class_name, rest))

struct PodTemplateSpec {
    ObjectMeta metadata;
    PodSpec spec;
    json::object rest;
};
BOOST_DESCRIBE_STRUCT(PodTemplateSpec, (), (metadata, spec, rest))

struct ContainerStateWaiting {
    std::string reason;
    std::string message;
};
BOOST_DESCRIBE_STRUCT(ContainerStateWaiting, (), (reason, message))

struct ContainerStateRunning {
    std::string started_at;
};
BOOST_DESCRIBE_STRUCT(ContainerStateRunning, (), (started_at))

struct ContainerStateTerminated {
    std::optional<std::int32_t> exit_code;  ///< always set; optional only so that 0 is written
    std::optional<std::int32_t> signal;
    std::string reason;
    std::string message;
    std::string started_at;
    std::string finished_at;
    std::string container_id;
};
BOOST_DESCRIBE_STRUCT(ContainerStateTerminated, (),
                      (exit_code, signal, reason, message, started_at, finished_at, container_id))

struct ContainerState {
    std::optional<ContainerStateWaiting> waiting;
    std::optional<ContainerStateRunning> running;
    std::optional<ContainerStateTerminated> terminated;
};
BOOST_DESCRIBE_STRUCT(ContainerState, (), (waiting, running, terminated))

struct ContainerStatus {
    std::string name;
    ContainerState state;
    ContainerState last_state;
    std::optional<bool> ready;  ///< always set, as are started and restart_count
    std::optional<std::int32_t> restart_count;
    std::string image;
    std::string image_id;
    std::string container_id;
    std::optional<bool> started;
    json::object rest;
};
BOOST_DESCRIBE_STRUCT(ContainerStatus, (),
                      (name, state, last_state, ready, restart_count, image, image_id, container_id,
                       started, rest))

struct PodCondition {
    std::string type;
    std::string status;  ///< "True", "False", "Unknown"
    std::string reason;
    std::string message;
    std::string last_transition_time;
    json::object rest;
};
BOOST_DESCRIBE_STRUCT(PodCondition, (), (type, status, reason, message, last_transition_time, rest))

struct PodStatus {
    std::string phase;  ///< Pending, Running, Succeeded, Failed, Unknown
    std::string reason;
    std::string message;
    std::string host_ip;
    std::string pod_ip;
    std::string start_time;
    std::string qos_class;
    std::vector<PodCondition> conditions;
    std::vector<ContainerStatus> init_container_statuses;
    std::vector<ContainerStatus> container_statuses;
    json::object rest;
};
BOOST_DESCRIBE_STRUCT(PodStatus, (),
                      (phase, reason, message, host_ip, pod_ip, start_time, qos_class, conditions,
                       init_container_statuses, container_statuses, rest))

struct Pod {
    std::string api_version = "v1";
    std::string kind = "Pod";
    ObjectMeta metadata;
    PodSpec spec;
    PodStatus status;
    json::object rest;
};
BOOST_DESCRIBE_STRUCT(Pod, (), (api_version, kind, metadata, spec, status, rest))

}  // namespace muster::kube
