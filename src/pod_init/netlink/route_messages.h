#pragma once

#include <linux/rtnetlink.h>

#include <cstdint>
#include <string>

#include "pod_init/netlink/rtnetlink.h"

// Messages that both sides of a pod's link and the way out are made of. Addresses are in host byte
// order.

namespace muster::pod_init {

inline constexpr std::uint32_t kLoopbackIndex = 1;

ifinfomsg link_header(std::uint32_t index, bool up = false);

/// No IPv6 link-local address: its duplicate detection and router solicitations would wake an idle
/// machine for every pod. A kernel without IPv6 refuses this, and that is fine.
void without_link_local(NetlinkBatch& batch, std::uint32_t index);

/// In a message about a link: what comes in by it may be sent on.
void forward_from(NetlinkBatch& batch);

/// Without the route to its neighbours that an address usually brings. `existing`: NLM_F_EXCL or
/// NLM_F_REPLACE, as for the other.
void add_address(NetlinkBatch& batch, std::string label, std::uint32_t index, std::uint32_t local,
                 std::uint8_t prefix, std::uint16_t existing = NLM_F_EXCL);

void add_route(NetlinkBatch& batch, std::string label, std::uint32_t destination,
               std::uint8_t prefix, std::uint32_t index, std::uint32_t gateway,
               std::uint32_t source, std::uint16_t existing = NLM_F_EXCL);

/// Of the one address. A refusal is ignored: it may have gone already.
void remove_route(NetlinkBatch& batch, std::string label, std::uint32_t destination,
                  std::uint32_t index);

/// What goes there is taken as our own, and so refused at once, as nothing listens: packets that
/// vanished would cost every DNS question five seconds, and a route that says "unreachable" says so
/// to a host but once a second.
void take_in(NetlinkBatch& batch, std::string label, std::uint32_t destination, std::uint8_t prefix,
             std::uint32_t metric);

/// What goes to the one address vanishes without a word, whatever other route there was.
void swallow(NetlinkBatch& batch, std::string label, std::uint32_t destination);

void add_neighbour(NetlinkBatch& batch, std::uint32_t index, std::uint32_t address,
                   const std::string& mac);

}  // namespace muster::pod_init
