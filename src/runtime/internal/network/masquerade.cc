#include "runtime/internal/network/masquerade.h"

#include <arpa/inet.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter_ipv4.h>
#include <sys/socket.h>

#include <array>
#include <functional>
#include <string>
#include <string_view>

#include "pod_init/netlink/rtnetlink.h"

namespace muster::runtime {

namespace {

constexpr const char* kTable = "muster";
constexpr const char* kUntracked = "untracked";
constexpr const char* kOut = "out";
constexpr const char* kBack = "back";
constexpr std::uint32_t kInvalid = 1;             // of nf_tables' ct state
constexpr std::uint32_t kDestinationOffset = 16;  // of an IPv4 header

constexpr std::uint16_t nf_tables(std::uint16_t message) {
    return static_cast<std::uint16_t>(NFNL_SUBSYS_NFTABLES << 8 | message);
}

nfgenmsg header_for(std::uint8_t family, std::uint16_t resource = 0) {
    return {.nfgen_family = family, .version = NFNETLINK_V0, .res_id = htons(resource)};
}

void nested(pod_init::NetlinkBatch& batch, std::uint16_t type,
            const std::function<void()>& content) {
    const std::size_t start = batch.begin_nest(type);
    content();
    batch.end_nest(start);
}

void number(pod_init::NetlinkBatch& batch, std::uint16_t type, std::uint32_t value) {
    batch.u32(type, htonl(value));
}

/// A number as the kernel stores it in its registers.
std::string_view bytes_of(const std::uint32_t& number) {
    return {reinterpret_cast<const char*>(&number), sizeof number};
}

void expression(pod_init::NetlinkBatch& batch, const char* name,
                const std::function<void()>& data) {
    nested(batch, NFTA_LIST_ELEM, [&] {
        batch.text(NFTA_EXPR_NAME, name);
        nested(batch, NFTA_EXPR_DATA, data);
    });
}

void load_meta(pod_init::NetlinkBatch& batch, std::uint32_t key) {
    expression(batch, "meta", [&] {
        number(batch, NFTA_META_DREG, NFT_REG_1);
        number(batch, NFTA_META_KEY, key);
    });
}

void compare(pod_init::NetlinkBatch& batch, std::uint32_t how, std::string_view bytes) {
    expression(batch, "cmp", [&] {
        number(batch, NFTA_CMP_SREG, NFT_REG_1);
        number(batch, NFTA_CMP_OP, how);
        nested(batch, NFTA_CMP_DATA, [&] { batch.attribute(NFTA_DATA_VALUE, bytes); });
    });
}

void add_chain(pod_init::NetlinkBatch& batch, const char* name, const char* type,
               std::uint32_t hook, int priority) {
    batch.message(std::string("nf_tables chain ") + name, nf_tables(NFT_MSG_NEWCHAIN), NLM_F_CREATE,
                  header_for(NFPROTO_IPV4));
    batch.text(NFTA_CHAIN_TABLE, kTable);
    batch.text(NFTA_CHAIN_NAME, name);
    nested(batch, NFTA_CHAIN_HOOK, [&] {
        number(batch, NFTA_HOOK_HOOKNUM, hook);
        number(batch, NFTA_HOOK_PRIORITY, static_cast<std::uint32_t>(priority));
    });
    batch.text(NFTA_CHAIN_TYPE, type);
}

void add_rule(pod_init::NetlinkBatch& batch, const char* chain,
              const std::function<void()>& expressions) {
    batch.message(std::string("nf_tables rule of ") + chain, nf_tables(NFT_MSG_NEWRULE),
                  NLM_F_CREATE | NLM_F_APPEND, header_for(NFPROTO_IPV4));
    batch.text(NFTA_RULE_TABLE, kTable);
    batch.text(NFTA_RULE_CHAIN, chain);
    nested(batch, NFTA_RULE_EXPRESSIONS, expressions);
}

}  // namespace

Result<void> masquerade(const NetworkNamespace& network, std::uint32_t out, std::uint32_t range) {
    TRY(UniqueFd fd, network.open_socket(AF_NETLINK, SOCK_RAW, NETLINK_NETFILTER));
    TRY(pod_init::NetlinkSocket socket, pod_init::NetlinkSocket::adopt(std::move(fd)));
    const std::array<char, 2> range_bytes{static_cast<char>(range >> 24 & 0xff),
                                          static_cast<char>(range >> 16 & 0xff)};

    pod_init::NetlinkBatch batch;
    batch.unanswered_message("nf_tables, for the masquerade of the pods' addresses",
                             NFNL_MSG_BATCH_BEGIN, header_for(AF_UNSPEC, NFNL_SUBSYS_NFTABLES));
    // An existing table may be an earlier process's, and a missing one can't be removed.
    const auto table = [&batch](std::uint16_t message, std::uint16_t flags) {
        batch.message("nf_tables table", nf_tables(message), flags, header_for(NFPROTO_IPV4));
        batch.text(NFTA_TABLE_NAME, kTable);
    };
    table(NFT_MSG_NEWTABLE, NLM_F_CREATE);
    table(NFT_MSG_DELTABLE, 0);
    table(NFT_MSG_NEWTABLE, NLM_F_CREATE);

    add_chain(batch, kUntracked, "filter", NF_INET_PRE_ROUTING, NF_IP_PRI_RAW);
    add_rule(batch, kUntracked, [&] {
        load_meta(batch, NFT_META_IIF);
        compare(batch, NFT_CMP_NEQ, bytes_of(out));
        expression(batch, "payload", [&] {
            number(batch, NFTA_PAYLOAD_DREG, NFT_REG_1);
            number(batch, NFTA_PAYLOAD_BASE, NFT_PAYLOAD_NETWORK_HEADER);
            number(batch, NFTA_PAYLOAD_OFFSET, kDestinationOffset);
            number(batch, NFTA_PAYLOAD_LEN, range_bytes.size());
        });
        compare(batch, NFT_CMP_EQ, {range_bytes.data(), range_bytes.size()});
        expression(batch, "notrack", [] {});
    });

    add_chain(batch, kOut, "nat", NF_INET_POST_ROUTING, NF_IP_PRI_NAT_SRC);
    add_rule(batch, kOut, [&] {
        load_meta(batch, NFT_META_OIF);
        compare(batch, NFT_CMP_EQ, bytes_of(out));
        expression(batch, "masq", [] {});
    });
    // pasta sends segments without any flag, which a peer ignores; but here they belong to no
    // connection, and the router would answer them with a reset.
    add_chain(batch, kBack, "filter", NF_INET_LOCAL_IN, NF_IP_PRI_FILTER);
    add_rule(batch, kBack, [&] {
        expression(batch, "ct", [&] {
            number(batch, NFTA_CT_DREG, NFT_REG_1);
            number(batch, NFTA_CT_KEY, NFT_CT_STATE);
        });
        compare(batch, NFT_CMP_EQ, bytes_of(kInvalid));
        expression(batch, "immediate", [&] {
            number(batch, NFTA_IMMEDIATE_DREG, NFT_REG_VERDICT);
            nested(batch, NFTA_IMMEDIATE_DATA, [&] {
                nested(batch, NFTA_DATA_VERDICT,
                       [&] { number(batch, NFTA_VERDICT_CODE, NF_DROP); });
            });
        });
    });
    batch.unanswered_message("nf_tables", NFNL_MSG_BATCH_END,
                             header_for(AF_UNSPEC, NFNL_SUBSYS_NFTABLES));
    return socket.execute(batch);
}

}  // namespace muster::runtime
