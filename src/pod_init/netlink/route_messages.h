#pragma once

#include <linux/rtnetlink.h>

#include <cstdint>
#include <string>

#include "pod_init/netlink/rtnetlink.h"

// Messages that configure both sides of a pod's link and the way out. Addresses are in host byte
// order.

namespace muster::pod_init {

inline constexpr std::uint32_t kLoopbackIndex = 1;

ifinfomsg link_header(std::uint32_t index, bool up = false);

/// No IPv6 link-local address: its duplicate detection and router solicitations would wake an idle
/// machine for every pod. A kernel without IPv6 refuses this, which does no harm.
void without_link_local(NetlinkBatch& batch, std::uint32_t index);

/// In a message about a link: packets that arrive on it may be forwarded.
void forward_from(NetlinkBatch& batch);

/// Without the route to neighbours that an address usually brings. `existing`: NLM_F_EXCL or
/// NLM_F_REPLACE, for an existing address.
void add_address(NetlinkBatch& batch, std::string label, std::uint32_t index, std::uint32_t local,
                 std::uint8_t prefix, std::uint16_t existing = NLM_F_EXCL);

void add_route(NetlinkBatch& batch, std::string label, std::uint32_t destination,
               std::uint8_t prefix, std::uint32_t index, std::uint32_t gateway,
               std::uint32_t source, std::uint16_t existing = NLM_F_EXCL);

/// For the single address. A refusal is ignored: the route may be gone already.
void remove_route(NetlinkBatch& batch, std::string label, std::uint32_t destination,
                  std::uint32_t index);

/// Accepts packets to that destination as our own, so that connections are refused immediately, as
/// nothing listens. If packets vanished, every DNS question would take five seconds; and an
/// "unreachable" route answers a host only once a second.
void take_in(NetlinkBatch& batch, std::string label, std::uint32_t destination, std::uint8_t prefix,
             std::uint32_t metric);

/// Drops everything to the single address silently, whatever other route there is.
void swallow(NetlinkBatch& batch, std::string label, std::uint32_t destination);

void add_neighbour(NetlinkBatch& batch, std::uint32_t index, std::uint32_t address,
                   const std::string& mac);

}  // namespace muster::pod_init
