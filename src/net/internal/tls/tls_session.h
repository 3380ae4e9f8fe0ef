#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/async/signal.h"
#include "net/internal/tls/openssl.h"
#include "net/tls/tls.h"

namespace muster::net {

/// One TLS connection. OpenSSL reads records from `received_` and appends records to `to_send_`; it
/// never touches the stream below, so that any stream will do. An idle session holds some
/// kilobytes.
class TlsSession final : public TlsStream {
  public:
    /// `ssl` knows its role and has no BIO yet. `received`: bytes that arrived already.
    TlsSession(const asio::any_io_executor& executor, Ssl ssl, std::unique_ptr<ByteStream> below,
               std::vector<char> received = {});
    ~TlsSession() override;

    /// To be called first, once. `refused`: the code for a failure of the other side's part other
    /// than a certificate that is not accepted.
    Task<Result<void>> handshake(Code refused = Code::kUnavailable);

    Task<Result<std::size_t>> read_some(asio::mutable_buffer into) override;
    Task<Result<void>> write(ConstBuffers bytes) override;
    std::size_t write_now(ConstBuffers bytes) override;
    bool has_unsent() const override { return !to_send_.empty(); }
    Task<Result<void>> shut_down_write() override;
    void close() override;
    bool has_input() const override {
        return closed_ || received_at_ < received_end_ || SSL_has_pending(ssl_.get()) == 1 ||
               below_->has_input();
    }
    bool gather() override {
        return received_at_ == received_end_ && SSL_pending(ssl_.get()) == 0 && below_->gather();
    }
    std::string peer_address() const override { return below_->peer_address(); }
    const std::optional<PeerCertificate>& peer_certificate() const override { return peer_; }
    std::string protocol() const override { return SSL_get_version(ssl_.get()); }

  private:
    static const BIO_METHOD* bio_method();
    static int bio_read(BIO* bio, char* into, int size);
    static int bio_write(BIO* bio, const char* from, int size);

    /// Waits for more records; to be called when OpenSSL has used up all present ones.
    Task<Result<void>> receive();
    /// Sends the records that OpenSSL has made. Reader and writer both make records but only one of
    /// them sends; if the other one is sending, this waits for it.
    Task<Result<void>> send();
    Task<Result<void>> write_piece(asio::const_buffer piece);
    std::size_t read_more(asio::mutable_buffer into);
    /// Makes records of these bytes; on failure the error is OpenSSL's newest.
    bool encrypt(std::string_view bytes);
    /// Sends what can be sent without waiting; true if that was everything.
    bool hand_on();
    Error handshake_failure(Code refused);

    Ssl ssl_;
    std::unique_ptr<ByteStream> below_;
    std::optional<PeerCertificate> peer_;
    std::vector<char> received_;
    std::size_t received_at_ = 0;
    std::size_t received_end_ = 0;
    std::optional<Error> failure_;  ///< of a read
    std::string to_send_;
    Signal sent_;
    bool sending_ = false;
    bool cut_ = false;        // a record may have been sent in part, so nothing can follow it
    bool shut_down_ = false;  // close_notify was made
    bool closed_ = false;
};

}  // namespace muster::net
