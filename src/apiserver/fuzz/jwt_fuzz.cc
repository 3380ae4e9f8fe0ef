// Any text: it has the form of a token or is refused, and never authenticates anyone.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "apiserver/authentication/account_token.h"
#include "apiserver/authentication/jwt.h"
#include "base/check.h"

using namespace muster;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const std::shared_ptr<const net::SigningKey> kKey =
        *net::SigningKey::parse(*net::make_signing_key());
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const Result<apiserver::UncheckedJwt> jwt = apiserver::parse_jwt(text);
    if (jwt)
        CHECK(text.starts_with(jwt->signed_text), "what is signed is the front of the token");
    else
        CHECK(jwt.error().code() == Code::kUnauthorized, "what is not a token is refused");
    CHECK(!apiserver::verified_claims(*kKey, text), "an unknown key signed nothing");
    // The text as signed claims: valid ones come back the same.
    if (!jwt) return 0;
    const Result<apiserver::AccountToken> token =
        apiserver::read_claims(jwt->header, WallTime(std::chrono::seconds(1'700'000'000)));
    if (!token) return 0;
    const Result<apiserver::AccountToken> again = apiserver::read_claims(
        apiserver::claims_of(*token), WallTime(std::chrono::seconds(1'700'000'000)));
    CHECK(again || token->issued > WallTime(std::chrono::seconds(1'700'000'000)),
          "claims that hold are written as claims that hold");
    return 0;
}
