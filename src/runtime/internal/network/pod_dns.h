#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/objects/pod.h"

namespace muster::runtime {

/// What a pod wants of its /etc/resolv.conf: its dnsPolicy and dnsConfig.
struct PodDns {
    struct Option {
        std::string name;
        std::string value;  ///< may be empty
    };

    bool own_alone = false;  ///< dnsPolicy None: nothing of the node's file
    std::vector<std::string> nameservers;
    std::vector<std::string> searches;
    std::vector<Option> options;
};

/// Nullopt for a pod that resolves names as all pods of this node do.
std::optional<PodDns> pod_dns(const kube::PodSpec& spec);

struct PodResolvConf {
    std::string text;
    /// Servers that the C library would not ask, as it uses three: they are left out.
    std::vector<std::string> omitted;
};

/// The node's file with what the pod adds: its servers and search domains after the node's, its
/// options in the place of those of the same name (upstream: kubelet, network/dns,
/// appendDNSConfig).
PodResolvConf resolv_conf_of_pod(std::string_view of_node, const PodDns& dns);

}  // namespace muster::runtime
