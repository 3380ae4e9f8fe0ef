#include "launch/rendezvous.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/fields.h"
#include "base/nearest_name.h"
#include "base/parse_number.h"

namespace muster::launch {
namespace {

using Where = Rendezvous::Where;
using Host = Rendezvous::Host;

constexpr std::string_view kMasterOfJob = "MUSTER_MASTER_ADDR";

constexpr std::uint16_t kDefaultPort = 29400;        // torch's c10d rendezvous
constexpr std::uint16_t kDefaultStaticPort = 29500;  // its --master-port

/// A variable that is set and not empty.
const std::string* said(const Variables& variables, std::string_view name) {
    const std::string* const text = find_variable(variables, name);
    return text != nullptr && !text->empty() ? text : nullptr;
}

/// The first of these variables that is set, as a number from 0 up.
Result<std::optional<int>> number_in(const Variables& variables,
                                     std::initializer_list<std::string_view> names) {
    for (const std::string_view name : names) {
        const std::string* const text = said(variables, name);
        if (text == nullptr) continue;
        const auto number = parse_number<int>(*text);
        if (!number || *number < 0)
            return wrong({*text, std::string(name)}, "expects a whole number, 0 or above");
        return number;
    }
    return std::optional<int>();
}

Result<std::vector<Endpoint>> read_endpoints(const Given& given, std::uint16_t default_port) {
    std::vector<Endpoint> endpoints;
    std::string_view rest = given.text;
    while (!rest.empty()) {
        const std::string_view each = take_field(rest, ',');
        std::optional<Endpoint> endpoint = parse_endpoint(each, default_port);
        if (!endpoint)
            return wrong(given,
                         fmt::format("\"{}\" is not HOST:PORT (a name, an IPv4 address or an "
                                     "IPv6 address in brackets, and a port up to 65535)",
                                     each));
        if (std::ranges::find(endpoints, *endpoint) != endpoints.end())
            return wrong(given, fmt::format("{} is listed twice", endpoint->text()));
        endpoints.push_back(*std::move(endpoint));
    }
    return endpoints;
}

Result<void> check_backend(const Given& backend) {
    const std::vector<std::string> here = {"static", "c10d", "dlrover-master", "muster"};
    if (std::ranges::find(here, backend.text) != here.end()) return {};
    const std::string_view remedy =
        "use --rdzv-endpoint HOST:PORT with one or more of the job's own nodes instead";
    if (backend.text.starts_with("etcd"))
        return wrong(backend, fmt::format("etcd is neither used nor needed; {}", remedy));
    const std::string near = nearest_name(backend.text, here);
    return wrong(backend,
                 fmt::format("expects one of {}{}; {}", fmt::join(here, ", "),
                             near.empty() ? "" : fmt::format(" (did you mean {}?)", near), remedy));
}

/// Rank 0 has the endpoint.
void by_rank(Rendezvous& rendezvous, std::optional<int> rank) {
    rendezvous.slot = rank;
    if (rank) rendezvous.host = *rank == 0 ? Host::kThisNode : Host::kOtherNode;
}

class Finder {
  public:
    Finder(const LaunchFlags& flags, const Variables& variables, std::optional<NodeRange> nodes,
           const RendezvousConf& conf, std::vector<LaunchNotice>& notices)
        : flags_(flags), variables_(variables), nodes_(nodes), conf_(conf), notices_(notices) {}

    Result<Rendezvous> find() {
        TRY_VOID(check_backend(flags_.get(Flag::kRdzvBackend)));
        if (flags_.on(Flag::kStandalone)) return standalone();
        if (has_master_of_job()) return by_master_of_job();
        const bool dlrovers = flags_.command == LaunchCommand::kDlroverRun;
        if (dlrovers && said(variables_, "DLROVER_MASTER_ADDR")) return by_dlrover();
        if (!flags_.get(Flag::kRdzvEndpoint).text.empty()) return by_endpoints();
        if (says_static()) return by_static();
        if (said(variables_, "DLROVER_MASTER_ADDR")) return by_dlrover();
        if (has_injected()) {
            const bool torchs = flags_.command == LaunchCommand::kTorchrun ||
                                flags_.command == LaunchCommand::kTorchLaunch;
            if (!torchs) return by_injected();
            notices_.push_back({log::Level::kDebug,
                                "MASTER_ADDR, RANK and WORLD_SIZE are set: torchrun ignores them, "
                                "and muster-run uses them"});
        }
        if (most() > 1) return nowhere();
        return Rendezvous{.decided_by = "one node"};
    }

  private:
    int most() const { return nodes_ ? nodes_->most : 1; }
    bool is_static() const { return flags_.get(Flag::kRdzvBackend).text == "static"; }
    bool says_static() const {
        return is_static() && (flags_.said(Flag::kNodeRank) || flags_.said(Flag::kMasterAddr) ||
                               flags_.said(Flag::kMasterPort));
    }
    bool has_master_of_job() const {
        if (!said(variables_, kMasterOfJob)) return false;
        if (most() == 1 && flags_.get(Flag::kNnodes).by_flag()) return false;
        // It has neither files of the pods nor what their commands make.
        for (const Flag flag : {Flag::kTokenFile, Flag::kTlsCert})
            if (!flags_.get(flag).text.empty()) return false;
        const bool in_worker = said(variables_, "MUSTER_GENERATION");
        return !in_worker || (!flags_.get(Flag::kRdzvEndpoint).by_flag() &&
                              !flags_.get(Flag::kMasterAddr).by_flag());
    }
    bool has_injected() const {
        return said(variables_, "MASTER_ADDR") && said(variables_, "RANK") &&
               said(variables_, "WORLD_SIZE") && !said(variables_, "LOCAL_RANK");
    }

    Result<Rendezvous> standalone() const {
        if (nodes_ && nodes_->least > 1)
            return Error(
                Code::kInvalid,
                fmt::format("{}: this means one node, but {} needs at least {}; drop one of them",
                            flags_.get(Flag::kStandalone).written(),
                            flags_.get(Flag::kNnodes).written(), nodes_->least));
        Rendezvous rendezvous{.nodes = 1, .decided_by = "--standalone"};
        return rendezvous;
    }

    Result<std::optional<int>> static_rank() const {
        if (!flags_.said(Flag::kNodeRank)) return std::optional<int>();
        const Given rank = flags_.get(Flag::kNodeRank);
        if (read_count(rank) >= most())
            return wrong(rank, fmt::format("with {} it must be from 0 to {}",
                                           flags_.get(Flag::kNnodes).written(), most() - 1));
        return std::optional(read_count(rank));
    }

    /// Of the given one the static backend alone.
    Result<std::optional<int>> obeyed_rank() const {
        if (is_static()) return static_rank();
        if (flags_.said(Flag::kNodeRank))
            notices_.push_back(
                {log::Level::kWarning,
                 fmt::format("{} has no effect with {}: the master assigns ranks; --rdzv-backend "
                             "static obeys it",
                             flags_.get(Flag::kNodeRank).written(),
                             flags_.get(Flag::kRdzvBackend).written())});
        return std::optional<int>();
    }

    Result<Rendezvous> by_endpoints() const {
        const Given given = flags_.get(Flag::kRdzvEndpoint);
        Rendezvous rendezvous{.where = Where::kEndpoints, .decided_by = given.written()};
        TRY(rendezvous.endpoints, read_endpoints(given, kDefaultPort));
        TRY(const std::optional<int> rank, obeyed_rank());
        if (is_static()) {
            by_rank(rendezvous, rank);
            if (rendezvous.endpoints.size() > 1) rendezvous.host = Host::kByAddress;
        }
        if (most() == 1) return here(std::move(rendezvous));
        if (conf_.is_host) {
            if (rendezvous.endpoints.size() > 1)
                return wrong(
                    flags_.get(Flag::kRdzvConf),
                    "is_host: if there are several endpoints, each of their nodes is a host");
            rendezvous.host = *conf_.is_host ? Host::kThisNode : Host::kOtherNode;
        }
        TRY_VOID(check_ports(rendezvous, given));
        return rendezvous;
    }

    Result<Rendezvous> by_static() const {
        const Given port = flags_.get(Flag::kMasterPort);
        const Given address = flags_.get(Flag::kMasterAddr);
        std::optional<Endpoint> endpoint = parse_endpoint(address.text, 0);
        if (!endpoint || endpoint->port != 0)
            return wrong(address, "expects a name or an address; the port is --master-port");
        if (read_count(port) > 65535) return wrong(port, "expects a port, up to 65535");
        endpoint->port = static_cast<std::uint16_t>(read_count(port));
        TRY(const std::optional<int> rank, static_rank());
        Rendezvous rendezvous{.where = Where::kEndpoints,
                              .endpoints = {*std::move(endpoint)},
                              .decided_by = "--master-addr and --master-port"};
        by_rank(rendezvous, rank);
        if (most() == 1) {
            if (port.said() && rendezvous.endpoints[0].port != 0)
                rendezvous.store_port = rendezvous.endpoints[0].port;
            return here(std::move(rendezvous));
        }
        TRY_VOID(check_ports(rendezvous, port));
        return rendezvous;
    }

    /// Everything that was said about a place to meet is ignored.
    static Rendezvous here(Rendezvous rendezvous) {
        rendezvous.where = Where::kHere;
        rendezvous.endpoints.clear();
        rendezvous.host = Host::kByAddress;
        rendezvous.slot.reset();
        return rendezvous;
    }

    static Result<void> check_ports(const Rendezvous& rendezvous, const Given& given) {
        for (const Endpoint& endpoint : rendezvous.endpoints)
            if (endpoint.port == 0)
                return wrong(given, "all nodes must know the port; 0 is for a single node");
        return {};
    }

    static Result<Rendezvous> at_master(const Given& given) {
        TRY(std::vector<Endpoint> endpoints, read_endpoints(given, 0));
        if (endpoints.size() != 1 || endpoints[0].port == 0)
            return wrong(given, "expects HOST:PORT");
        return Rendezvous{.where = Where::kElsewhere,
                          .endpoints = std::move(endpoints),
                          .decided_by = given.written()};
    }

    void tell_needless_places(const Given& given, log::Level level) const {
        for (const Flag flag : {Flag::kRdzvEndpoint, Flag::kMasterAddr, Flag::kMasterPort})
            if (flags_.said(flag) && !flags_.get(flag).text.empty())
                notices_.push_back(
                    {level, fmt::format("{} has no effect: {} says where the master is",
                                        flags_.get(flag).written(), given.written())});
    }

    /// What manifests say of places is right for torchrun.
    Result<Rendezvous> by_master_of_job() const {
        const Given given{*said(variables_, kMasterOfJob), std::string(kMasterOfJob)};
        TRY(Rendezvous rendezvous, at_master(given));
        TRY(rendezvous.slot, obeyed_rank());
        if (const std::string* const job = said(variables_, "MUSTER_MASTER_JOB"))
            rendezvous.job = *job;
        tell_needless_places(given, log::Level::kDebug);
        return rendezvous;
    }

    Result<Rendezvous> by_dlrover() const {
        const Given given{*said(variables_, "DLROVER_MASTER_ADDR"), "DLROVER_MASTER_ADDR"};
        TRY(Rendezvous rendezvous, at_master(given));
        TRY(const std::optional<int> rank, number_in(variables_, {"NODE_RANK", "WORKER_RANK"}));
        TRY(rendezvous.nodes, number_in(variables_, {"NODE_NUM", "WORKER_NUM"}));
        if (rendezvous.nodes == 0) rendezvous.nodes.reset();
        rendezvous.slot = rank;
        if (is_master_addr(rendezvous.endpoints[0])) {
            rendezvous.where = Where::kEndpoints;
            by_rank(rendezvous, rank);
        }
        tell_needless_places(given, log::Level::kWarning);
        return rendezvous;
    }

    bool is_master_addr(const Endpoint& endpoint) const {
        const std::string* const host = said(variables_, "MASTER_ADDR");
        const std::string* const port = said(variables_, "MASTER_PORT");
        return host && endpoint.host == *host && (!port || *port == std::to_string(endpoint.port));
    }

    Result<Rendezvous> by_injected() const {
        Rendezvous rendezvous{.where = Where::kEndpoints,
                              .decided_by = "MASTER_ADDR, RANK and WORLD_SIZE"};
        TRY(const std::optional<int> rank, number_in(variables_, {"RANK"}));
        TRY(const std::optional<int> size, number_in(variables_, {"WORLD_SIZE"}));
        TRY(const std::optional<int> port, number_in(variables_, {"MASTER_PORT"}));
        const int count = nodes_ ? nodes_->most : size.value_or(0);
        if (count < 1) return wrong({"0", "WORLD_SIZE"}, "expects the number of nodes, 1 or above");
        if (*rank >= count)
            return wrong(
                {std::to_string(*rank), "RANK"},
                fmt::format(
                    "of {} nodes; it is read as this node's rank because nothing else says where "
                    "the nodes meet: use --standalone, or --nnodes and --rdzv-endpoint",
                    count));
        rendezvous.nodes = count;
        if (count == 1) return here(std::move(rendezvous));
        const Given host{*said(variables_, "MASTER_ADDR"), "MASTER_ADDR"};
        std::optional<Endpoint> endpoint = parse_endpoint(host.text, 0);
        if (!endpoint || endpoint->port != 0) return wrong(host, "expects a name or an address");
        if (port && (*port < 1 || *port > 65535))
            return wrong({std::to_string(*port), "MASTER_PORT"}, "expects a port, 1 to 65535");
        endpoint->port = static_cast<std::uint16_t>(port.value_or(kDefaultStaticPort));
        rendezvous.endpoints = {*std::move(endpoint)};
        by_rank(rendezvous, rank);
        return rendezvous;
    }

    Error nowhere() const {
        return wrong(flags_.get(Flag::kNnodes),
                     "nothing says where the nodes meet; give each node the same --rdzv-endpoint "
                     "HOST:PORT[,HOST:PORT...] with one or more of the nodes, or --master-addr "
                     "HOST of the first one and --node-rank N");
    }

    const LaunchFlags& flags_;
    const Variables& variables_;
    std::optional<NodeRange> nodes_;
    const RendezvousConf& conf_;
    std::vector<LaunchNotice>& notices_;
};

}  // namespace

Result<Rendezvous> find_rendezvous(const LaunchFlags& flags, const Variables& variables,
                                   std::optional<NodeRange> nodes, const RendezvousConf& conf,
                                   std::vector<LaunchNotice>& notices) {
    return Finder(flags, variables, nodes, conf, notices).find();
}

std::vector<std::size_t> hosted_here(
    const Rendezvous& rendezvous, const NodeNames& node,
    const std::map<std::string, std::vector<std::string>>& looked_up) {
    std::vector<std::size_t> hosted;
    if (rendezvous.where != Where::kEndpoints || rendezvous.host == Host::kOtherNode) return hosted;
    if (rendezvous.host == Host::kThisNode) return {0};
    for (std::size_t i = 0; i < rendezvous.endpoints.size(); ++i) {
        const std::string& host = rendezvous.endpoints[i].host;
        const auto found = looked_up.find(host);
        const std::vector<std::string> none;
        if (is_this_node(host, found == looked_up.end() ? none : found->second, node))
            hosted.push_back(i);
    }
    return hosted;
}

}  // namespace muster::launch
