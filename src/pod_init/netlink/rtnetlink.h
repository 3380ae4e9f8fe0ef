#pragma once

#include <linux/rtnetlink.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace muster::pod_init {

/// Netlink messages to the kernel (its routing tables, its packet filter), sent and answered
/// together. Built in order; each has a label for error messages.
class NetlinkBatch {
  public:
    /// Starts a message; attributes that follow belong to it.
    template <class Header>
    void message(std::string label, std::uint16_t type, std::uint16_t flags, const Header& header) {
        open(std::move(label), type, flags, Answer::kWanted);
        append(&header, sizeof header);
    }
    /// The same, but the kernel answers it only if it refuses it (the frame of a netfilter batch).
    template <class Header>
    void unanswered_message(std::string label, std::uint16_t type, const Header& header) {
        open(std::move(label), type, 0, Answer::kRefusal);
        append(&header, sizeof header);
    }
    /// The same, but a refusal of it is ignored.
    template <class Header>
    void optional_message(std::string label, std::uint16_t type, std::uint16_t flags,
                          const Header& header) {
        open(std::move(label), type, flags, Answer::kIgnored);
        append(&header, sizeof header);
    }

    void attribute(std::uint16_t type, std::string_view bytes);
    void text(std::uint16_t type, std::string_view value);  ///< with its terminating zero
    void u32(std::uint16_t type, std::uint32_t value);
    void u8(std::uint16_t type, std::uint8_t value);
    void address(std::uint16_t type, std::uint32_t host_order);  ///< in network byte order
    /// Opens a nested attribute; end_nest() with the returned value ends it.
    std::size_t begin_nest(std::uint16_t type);
    void end_nest(std::size_t nest);
    /// A header inside a nested attribute (a veth's peer).
    template <class Header>
    void raw(const Header& header) {
        append(&header, sizeof header);
    }

  private:
    friend class NetlinkSocket;
    enum class Answer : std::uint8_t {
        kWanted,   ///< a refusal fails the whole batch
        kIgnored,  ///< arrives, but does not matter
        kRefusal,  ///< arrives only if the whole batch is refused
    };
    struct Entry {
        std::string label;
        Answer answer;
    };

    void open(std::string label, std::uint16_t type, std::uint16_t flags, Answer answer);
    void append(const void* data, std::size_t size);

    std::vector<char> bytes_;
    std::vector<Entry> entries_;
    std::size_t message_start_ = 0;
};

/// A netlink socket; it belongs for good to the network namespace in which it was opened, and keeps
/// that namespace alive. Blocking: the kernel answers within the call.
class NetlinkSocket {
  public:
    /// For the routing tables of this process's network.
    static Result<NetlinkSocket> open();
    /// Takes a socket(AF_NETLINK, SOCK_RAW, ...) that was opened elsewhere.
    static Result<NetlinkSocket> adopt(UniqueFd fd);

    /// Sends all messages and waits for all answers. Returns the first refusal, with its label.
    Result<void> execute(NetlinkBatch& batch);

  private:
    explicit NetlinkSocket(UniqueFd fd) : fd_(std::move(fd)) {}

    UniqueFd fd_;
};

}  // namespace muster::pod_init
