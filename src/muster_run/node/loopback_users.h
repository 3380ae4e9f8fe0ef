#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace muster::run {

/// Which user has the other end of a connection to a port of ours at 127.0.0.1 or ::1. TCP carries no
/// credentials, but the kernel knows who made the socket at the other end: it is asked about that
/// socket alone (sock_diag), or where it can't be asked, its table of connections is read.
///
/// Immutable. Any thread.
class LoopbackUsers {
  public:
    /// We listen at 127.0.0.1 already: by that socket it is found out what this kernel answers.
    explicit LoopbackUsers(std::uint16_t port);

    /// False: this kernel tells nothing.
    bool known() const { return source_ != Source::kNone; }
    /// Who has the client's socket of an accepted connection. nullopt: no user, since the client
    /// has closed it already, or the kernel does not tell.
    std::optional<uid_t> user_at(const std::string& host, std::uint16_t port) const;

  private:
    enum class Source : std::uint8_t { kNone, kQuestion, kTable };

    std::uint16_t port_;
    Source source_ = Source::kNone;
};

/// In the form of /proc/net/tcp: who has the open connection from `local` to `remote`, which are
/// written as there ("0100007F:1F90").
std::optional<uid_t> user_in_table(std::string_view table, std::string_view local,
                                   std::string_view remote);

}  // namespace muster::run
