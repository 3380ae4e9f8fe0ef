#pragma once

#include <memory>
#include <string>

#include "base/time/clock.h"
#include "net/tls/certificates.h"
#include "net/tls/tls.h"

namespace muster::net {

/// A CA, a server certificate of it for 127.0.0.1 and localhost, and what both sides need to talk.
/// Made once for a test program; valid from an hour before `kFrom` for a year.
struct TlsFixture {
    /// The calendar time at which a SimClock begins.
    static constexpr WallTime kFrom = WallTime(std::chrono::seconds(1'700'000'000));
    static Validity validity() {
        return {.from = kFrom - std::chrono::hours(1), .until = kFrom + std::chrono::days(365)};
    }

    static const TlsFixture& get();

    KeyPair ca;
    KeyPair server;
    KeyPair client;  ///< "ada" of "devs" and "admins"

    std::unique_ptr<TlsServerContext> server_context(const Clock& clock,
                                                     bool with_clients = false) const;
    std::unique_ptr<TlsClientContext> client_context(const Clock& clock,
                                                     bool with_certificate = false) const;
};

/// Real loops with a fixed calendar, for certificates that are valid at one moment only.
class FixedCalendar final : public Clock {
  public:
    explicit FixedCalendar(Clock& clock) : clock_(clock) {}
    Instant now() const override { return clock_.now(); }
    WallTime wall_now() const override { return TlsFixture::kFrom; }
    Task<void> sleep_until(Instant deadline) override { return clock_.sleep_until(deadline); }
    Task<void> sleep_until_wall(WallTime deadline) override {
        return clock_.sleep_until_wall(deadline);
    }

  private:
    Clock& clock_;
};

}  // namespace muster::net
