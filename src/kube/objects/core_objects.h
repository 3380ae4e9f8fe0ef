#pragma once

#include <boost/json/value.hpp>

#include "kube/objects/object_meta.h"

namespace muster::kube {

struct ServicePort {
    std::string name;
    std::int32_t port = 0;
    std::string protocol;
    json::object rest;
};
BOOST_DESCRIBE_STRUCT(ServicePort, (), (name, port, protocol, rest))

struct ServiceSpec {
    std::string cluster_ip;  ///< "None" for the headless services of jobs
    std::map<std::string, std::string> selector;
    std::vector<ServicePort> ports;
    std::optional<bool> publish_not_ready_addresses;
    json::object rest;
};
BOOST_DESCRIBE_STRUCT(ServiceSpec, (),
                      (cluster_ip, selector, ports, publish_not_ready_addresses, rest))

struct Service {
    std::string api_version = "v1";
    std::string kind = "Service";
    ObjectMeta metadata;
    ServiceSpec spec;
    json::object rest;
};
BOOST_DESCRIBE_STRUCT(Service, (), (api_version, kind, metadata, spec, rest))

struct ConfigMap {
    std::string api_version = "v1";
    std::string kind = "ConfigMap";
    ObjectMeta metadata;
    std::map<std::string, std::string> data;
    std::map<std::string, std::string> binary_data;  ///< base64
    json::object rest;
};
BOOST_DESCRIBE_STRUCT(ConfigMap, (), (api_version, kind, metadata, data, binary_data, rest))

struct Secret {
    std::string api_version = "v1";
    std::string kind = "Secret";
    ObjectMeta metadata;
    std::map<std::string, std::string> data;  ///< base64; the server folds stringData into it
    std::string type;
    json::object rest;
};
BOOST_DESCRIBE_STRUCT(Secret, (), (api_version, kind, metadata, data, type, rest))

struct ObjectReference {
    std::string api_version;
    std::string kind;
    std::string namespace_;
    std::string name;
    std::string uid;
    std::string resource_version;
    std::string field_path;
};
BOOST_DESCRIBE_STRUCT(ObjectReference, (),
                      (api_version, kind, namespace_, name, uid, resource_version, field_path))

struct EventSource {
    std::string component;
    std::string host;
};
BOOST_DESCRIBE_STRUCT(EventSource, (), (component, host))

struct Event {
    std::string api_version = "v1";
    std::string kind = "Event";
    ObjectMeta metadata;
    ObjectReference involved_object;
    std::string type;  ///< "Normal" or "Warning"
    std::string reason;
    std::string message;
    EventSource source;
    std::string first_timestamp;
    std::string last_timestamp;
    std::optional<std::int32_t> count;
    json::object rest;
};
BOOST_DESCRIBE_STRUCT(Event, (),
                      (api_version, kind, metadata, involved_object, type, reason, message, source,
                       first_timestamp, last_timestamp, count, rest))

struct NodeStatus {
    std::map<std::string, json::value> capacity;
    std::map<std::string, json::value> allocatable;
    json::object rest;
};
BOOST_DESCRIBE_STRUCT(NodeStatus, (), (capacity, allocatable, rest))

struct Node {
    std::string api_version = "v1";
    std::string kind = "Node";
    ObjectMeta metadata;
    NodeStatus status;
    json::object rest;
};
BOOST_DESCRIBE_STRUCT(Node, (), (api_version, kind, metadata, status, rest))

}  // namespace muster::kube
