#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::master_process {

/// The arguments of `muster master`.
struct Arguments {
    std::string job;              ///< for people
    std::string namespace_ = {};  ///< of the record's object; empty: the pod's own
    std::uint16_t port = 50001;
    std::string records_file = {};   ///< one of the two
    bool successor = false;          ///< of a master whose record may be lost
    bool begin_again = false;        ///< after a failure, when this process starts again
    std::string record_object = {};  ///< the name of a ConfigMap
    std::string job_object = {};     ///< "PLURAL.VERSION.GROUP": the job is followed in the API
    std::string node_types = {};     ///< "worker,chief": whose replicas are nodes
    std::string plan_object = {};    ///< the name of a ScalePlan in which it tells its wishes
    std::string kubeconfig = {};     ///< of the API server with it; empty: as in a pod
    std::string token_file = {};     ///< empty: MUSTER_TOKEN
    std::string tls_cert = {};       ///< all three, or none
    std::string tls_key = {};
    std::string tls_ca = {};
};

/// Returns an error message, or nullopt.
std::optional<std::string> parse_arguments(const std::vector<std::string>& words,
                                           Arguments& arguments);

/// The text of `muster master --help`.
std::string_view help_text();

}  // namespace muster::master_process
