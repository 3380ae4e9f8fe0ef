#include "net/internal/tls/openssl.h"

#include <gtest/gtest.h>

namespace muster::net::openssl_test {
namespace {

TEST(Openssl, AContextThatBeginsEachSessionAnewKeepsNone) {
    const SslContext context(SSL_CTX_new(TLS_server_method()));
    ASSERT_TRUE(context);
    begin_each_session_anew(context.get());
    EXPECT_NE(SSL_CTX_get_options(context.get()) & SSL_OP_NO_TICKET, 0u);
    EXPECT_EQ(SSL_CTX_get_num_tickets(context.get()), 0u);
    EXPECT_EQ(SSL_CTX_get_session_cache_mode(context.get()), SSL_SESS_CACHE_OFF);
    EXPECT_NE(SSL_CTX_get_mode(context.get()) & SSL_MODE_RELEASE_BUFFERS, 0);
}

}  // namespace
}  // namespace muster::net::openssl_test
