#include "control_plane/internal/front_proxy.h"

#include <optional>

namespace muster::control_plane {

namespace {

constexpr const char* kProxyCa = "front-proxy-ca.crt";
constexpr const char* kProxyCertificate = "front-proxy-client.crt";
constexpr const char* kProxyKey = "front-proxy-client.key";
/// The name that extension-apiserver-authentication allows.
constexpr const char* kProxyName = "front-proxy-client";
constexpr auto kProxyLife = std::chrono::hours(24 * 365 * 2);
constexpr auto kRenewedBefore = std::chrono::hours(24 * 30);
// The clocks of those servers may be a little behind.
constexpr auto kProxySlack = std::chrono::hours(1);

/// The stored one, unless it can't be used any more. Files that can't be read are no reason to fail:
/// nothing depends on them beyond the next connection.
Result<std::optional<FrontProxy>> stored_proxy(const StateHome& home, WallTime now) {
    TRY(std::optional<std::string> ca, home.read(kProxyCa));
    TRY(std::optional<std::string> certificate, home.read(kProxyCertificate));
    TRY(std::optional<std::string> key, home.read(kProxyKey));
    if (!ca || !certificate || !key) return std::nullopt;
    const Result<bool> belongs = net::key_belongs(*certificate, *key);
    const Result<bool> is_signed = net::is_signed_by(*certificate, *ca);
    const Result<WallTime> end = net::certificate_expiry(*certificate);
    if (!belongs || !*belongs || !is_signed || !*is_signed || !end || *end < now + kRenewedBefore)
        return std::nullopt;
    return FrontProxy{*std::move(ca), {*std::move(certificate), *std::move(key)}};
}

}  // namespace

Result<FrontProxy> load_front_proxy(const StateHome& home, WallTime now) {
    TRY(std::optional<FrontProxy> present, stored_proxy(home, now));
    if (present) return *std::move(present);
    const net::Validity validity{now - kProxySlack, now + kProxyLife};
    TRY(const net::KeyPair ca, net::make_ca("muster-front-proxy", validity));
    FrontProxy made{.ca_pem = ca.certificate, .client = {}};
    TRY(made.client, net::sign_client_certificate(ca, {kProxyName, {}}, validity));
    TRY_VOID(home.write(kProxyKey, made.client.key));
    TRY_VOID(home.write(kProxyCertificate, made.client.certificate));
    TRY_VOID(home.write(kProxyCa, made.ca_pem));
    return made;
}

}  // namespace muster::control_plane
