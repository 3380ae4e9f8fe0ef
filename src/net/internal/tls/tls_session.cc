#include "net/internal/tls/tls_session.h"

#include <fmt/format.h>
#include <openssl/err.h>

#include <algorithm>
#include <cstring>

#include "base/check.h"

namespace muster::net {

namespace {

/// The buffer of an idle session in each direction; enough for a usual request in one read.
constexpr std::size_t kSmall = 4096;
/// A record and its frame: how much a busy session reads at a time.
constexpr std::size_t kRecord = std::size_t{17} * 1024;
/// How much fits into one record.
constexpr std::size_t kRecordBody = std::size_t{16} * 1024;
/// How much is encrypted before it is sent.
constexpr std::size_t kBatch = 8 * kRecordBody;

constexpr std::string_view kReading = "reading from the TLS connection";

/// In one piece, valid until the next call: a head and its body are sent as one record.
std::string_view as_one(const ConstBuffers& bytes) {
    if (bytes.pieces().size() == 1) {
        const asio::const_buffer& piece = bytes.pieces().front();
        return {static_cast<const char*>(piece.data()), piece.size()};
    }
    static thread_local std::string joined;
    joined.clear();
    for (const asio::const_buffer& piece : bytes.pieces())
        joined.append(static_cast<const char*>(piece.data()), piece.size());
    return joined;
}

Error cut_error() {
    return Error(Code::kUnavailable,
                 "the TLS connection was cut: it ended without the other side's farewell");
}

}  // namespace

TlsSession::TlsSession(const asio::any_io_executor& executor, Ssl ssl,
                       std::unique_ptr<ByteStream> below, std::vector<char> received)
    : ssl_(std::move(ssl)),
      below_(std::move(below)),
      received_(std::move(received)),
      received_end_(received_.size()),
      sent_(executor) {
    BIO* bio = BIO_new(bio_method());
    CHECK(bio != nullptr, "no memory for a BIO");
    BIO_set_data(bio, this);
    BIO_set_init(bio, 1);
    SSL_set_bio(ssl_.get(), bio, bio);  // owns it, once for both directions
}

TlsSession::~TlsSession() { close(); }

const BIO_METHOD* TlsSession::bio_method() {
    static const BIO_METHOD* const method = [] {
        BIO_METHOD* made =
            BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "muster records");
        CHECK(made != nullptr, "no memory for a BIO method");
        BIO_meth_set_read(made, &TlsSession::bio_read);
        BIO_meth_set_write(made, &TlsSession::bio_write);
        BIO_meth_set_ctrl(made, [](BIO*, int command, long, void*) -> long {
            return command == BIO_CTRL_FLUSH ? 1 : 0;
        });
        return made;
    }();
    return method;
}

int TlsSession::bio_read(BIO* bio, char* into, int size) {
    auto& self = *static_cast<TlsSession*>(BIO_get_data(bio));
    BIO_clear_retry_flags(bio);
    const std::size_t there = self.received_end_ - self.received_at_;
    if (there == 0) {
        BIO_set_retry_read(bio);
        return -1;
    }
    const std::size_t taken = std::min(there, static_cast<std::size_t>(size));
    std::memcpy(into, self.received_.data() + self.received_at_, taken);
    self.received_at_ += taken;
    return static_cast<int>(taken);
}

int TlsSession::bio_write(BIO* bio, const char* from, int size) {
    auto& self = *static_cast<TlsSession*>(BIO_get_data(bio));
    BIO_clear_retry_flags(bio);
    try {
        self.to_send_.append(from, static_cast<std::size_t>(size));
    } catch (const std::bad_alloc&) {
        return -1;  // OpenSSL is C, and can't be thrown through
    }
    return size;
}

Task<Result<void>> TlsSession::receive() {
    CHECK(received_at_ == received_end_, "records are left to be read");
    // Large reads for a peer that sends much, little memory for a silent one.
    const bool was_full = !received_.empty() && received_end_ == received_.size();
    const std::size_t size = was_full ? kRecord : kSmall;
    if (received_.size() != size) received_ = std::vector<char>(size);
    received_at_ = received_end_ = 0;
    CO_TRY(received_end_,
           co_await below_->read_some(asio::buffer(received_.data(), received_.size())));
    if (received_end_ == 0) co_return cut_error();
    co_return Result<void>();
}

Task<Result<void>> TlsSession::send() {
    while (sending_) co_await sent_.wait();
    if (cut_) co_return Error(Code::kUnavailable, "an earlier write to the TLS connection failed");
    if (to_send_.empty()) co_return Result<void>();
    std::string records = std::exchange(to_send_, {});
    // However this ends, even by a cancellation.
    struct End {
        explicit End(TlsSession& session) : self(session) {
            self.sending_ = true;
            self.cut_ = true;
        }
        ~End() {
            self.sending_ = false;
            self.sent_.notify_all();
        }
        End(const End&) = delete;
        End& operator=(const End&) = delete;
        TlsSession& self;
    } end(*this);
    for (;;) {
        CO_TRY_VOID(co_await below_->write(asio::buffer(records)));
        if (to_send_.empty()) break;
        records = std::exchange(to_send_, {});
    }
    cut_ = false;
    if (records.capacity() <= kSmall) {  // spares the next write an allocation
        records.clear();
        to_send_ = std::move(records);
    }
    co_return Result<void>();
}

Error TlsSession::handshake_failure(Code refused) {
    const long verified = SSL_get_verify_result(ssl_.get());
    if (verified != X509_V_OK && SSL_get_verify_mode(ssl_.get()) != SSL_VERIFY_NONE) {
        ERR_clear_error();
        return Error(Code::kUnauthorized,
                     fmt::format("the certificate of {} is refused: {}", peer_address(),
                                 X509_verify_cert_error_string(verified)));
    }
    return openssl_error(refused, fmt::format("TLS handshake with {}", peer_address()));
}

Task<Result<void>> TlsSession::handshake(Code refused) {
    for (;;) {
        ERR_clear_error();
        const int done = SSL_do_handshake(ssl_.get());
        const int why = SSL_get_error(ssl_.get(), done);
        if (done == 1) break;
        if (why != SSL_ERROR_WANT_READ) {
            Error failed = handshake_failure(refused);
            // The alert tells the other side why; it makes no difference if it does not arrive.
            (void)co_await send();
            co_return failed;
        }
        CO_TRY_VOID(co_await send());
        CO_TRY_VOID(co_await receive());
    }
    CO_TRY_VOID(co_await send());
    if (const X509* shown = SSL_get0_peer_certificate(ssl_.get())) peer_ = subject_of(shown);
    co_return Result<void>();
}

Task<Result<std::size_t>> TlsSession::read_some(asio::mutable_buffer into) {
    CHECK(into.size() > 0, "a read of nothing");
    for (;;) {
        if (closed_) co_return Error(Code::kCancelled, "the connection was closed");
        ERR_clear_error();
        std::size_t size = 0;
        const int done = SSL_read_ex(ssl_.get(), into.data(), into.size(), &size);
        const int why = SSL_get_error(ssl_.get(), done);
        if (done == 1) co_return size + read_more(into + size);
        if (why == SSL_ERROR_ZERO_RETURN) co_return std::size_t{0};
        if (why != SSL_ERROR_WANT_READ) {
            if (!failure_) failure_ = openssl_error(Code::kUnavailable, kReading);
            if (!sending_) (void)co_await send();  // the alert
            co_return *failure_;
        }
        // A key update asks for an answer; if a writer is sending, it sends that too.
        if (!to_send_.empty() && !sending_) CO_TRY_VOID(co_await send());
        CO_TRY_VOID(co_await receive());
    }
}

/// Of the records that are here already. What ends the connection is for the next read.
std::size_t TlsSession::read_more(asio::mutable_buffer into) {
    std::size_t all = 0;
    while (into.size() > 0 && received_at_ < received_end_) {
        std::size_t size = 0;
        const int done = SSL_read_ex(ssl_.get(), into.data(), into.size(), &size);
        if (done != 1) {
            const int why = SSL_get_error(ssl_.get(), done);
            if (why != SSL_ERROR_WANT_READ && why != SSL_ERROR_ZERO_RETURN)
                failure_ = openssl_error(Code::kUnavailable, kReading);
            break;
        }
        all += size;
        into += size;
    }
    return all;
}

bool TlsSession::encrypt(std::string_view bytes) {
    ERR_clear_error();
    std::size_t size = 0;
    // All of them, without SSL_MODE_ENABLE_PARTIAL_WRITE: the BIO takes what it is given.
    return SSL_write_ex(ssl_.get(), bytes.data(), bytes.size(), &size) == 1;
}

Task<Result<void>> TlsSession::write_piece(asio::const_buffer piece) {
    while (piece.size() > 0) {
        if (closed_) co_return Error(Code::kCancelled, "the connection was closed");
        const std::size_t size = std::min(piece.size(), kBatch);
        if (!encrypt({static_cast<const char*>(piece.data()), size}))
            co_return openssl_error(Code::kUnavailable, "writing to the TLS connection");
        piece += size;
        if (to_send_.size() >= kBatch) CO_TRY_VOID(co_await send());
    }
    co_return Result<void>();
}

Task<Result<void>> TlsSession::write(ConstBuffers bytes) {
    CHECK(!shut_down_, "a write after shut_down_write()");
    if (closed_) co_return Error(Code::kCancelled, "the connection was closed");
    const std::size_t total = bytes.size();
    if (total == 0) co_return co_await send();
    if (total <= kRecordBody) {
        if (!encrypt(as_one(bytes)))
            co_return openssl_error(Code::kUnavailable, "writing to the TLS connection");
    } else {
        for (const asio::const_buffer piece : bytes.pieces())
            CO_TRY_VOID(co_await write_piece(piece));
    }
    co_return co_await send();
}

/// At most one record, so that little can be left over.
std::size_t TlsSession::write_now(ConstBuffers bytes) {
    CHECK(!shut_down_, "a write after shut_down_write()");
    const std::size_t total = bytes.size();
    if (closed_ || sending_ || cut_ || total == 0 || total > kRecordBody) return 0;
    if (!hand_on()) return 0;
    if (!encrypt(as_one(bytes))) return 0;
    hand_on();
    return total;
}

bool TlsSession::hand_on() {
    if (!to_send_.empty()) to_send_.erase(0, below_->write_now(asio::buffer(to_send_)));
    if (to_send_.empty() && to_send_.capacity() > kSmall) to_send_.shrink_to_fit();
    return to_send_.empty();
}

Task<Result<void>> TlsSession::shut_down_write() {
    if (closed_) co_return Error(Code::kCancelled, "the connection was closed");
    shut_down_ = true;
    ERR_clear_error();
    if (SSL_shutdown(ssl_.get()) < 0)
        co_return openssl_error(Code::kUnavailable, "ending the TLS connection");
    CO_TRY_VOID(co_await send());
    co_return co_await below_->shut_down_write();
}

void TlsSession::close() {
    closed_ = true;
    below_->close();
}

}  // namespace muster::net
