#include "kube/internal/client_config/server_tls.h"

#include <fmt/format.h>

#include "kube/internal/client_config/small_file.h"

namespace muster::kube {

namespace {

/// The text itself, or the content of its file.
Result<std::string> load(const TextOrFile& from, const ClientConfig& access) {
    if (from.file.empty()) return from.text;
    Result<std::string> text = read_small_file(from.file);
    if (!text) return Error(text.error()).prefix(fmt::format("{} names a file", access.file));
    return text;
}

}  // namespace

Result<std::unique_ptr<ServerTls>> ServerTls::open(const ClientConfig& access, const Clock& clock,
                                                   bool through_tls) {
    std::unique_ptr<ServerTls> made(new ServerTls(access, clock, through_tls));
    TRY(Texts texts, made->read());
    const Result<bool> taken = made->take(std::move(texts));
    if (!taken) return taken.error();
    return made;
}

Result<ServerTls::Texts> ServerTls::read() const {
    Texts texts;
    TRY(texts.ca, load(access_.ca, access_));
    // A plugin's certificate stays.
    if (access_.certificate.empty()) {
        texts.certificate = texts_.certificate;
        texts.key = texts_.key;
        return texts;
    }
    TRY(texts.certificate, load(access_.certificate, access_));
    TRY(texts.key, load(access_.key, access_));
    return texts;
}

Result<bool> ServerTls::take(Texts texts) {
    if (taken_ && texts == texts_) return false;
    const net::Trust trust = access_.insecure   ? net::Trust::kAnyone
                             : texts.ca.empty() ? net::Trust::kSystem
                                                : net::Trust::kGiven;
    const auto make = [&](std::string certificate_pem,
                          std::string key_pem) -> Result<std::shared_ptr<net::TlsClientContext>> {
        Result<std::unique_ptr<net::TlsClientContext>> made =
            net::TlsClientContext::create(clock_, {.ca_pem = texts.ca,
                                                   .trust = trust,
                                                   .certificate_pem = std::move(certificate_pem),
                                                   .key_pem = std::move(key_pem)});
        if (!made)
            return Error(made.error())
                .prefix(fmt::format("{}: context \"{}\"", access_.file, access_.context));
        return std::shared_ptr<net::TlsClientContext>(*std::move(made));
    };
    std::shared_ptr<net::TlsClientContext> proxy, server;
    if (through_tls_) {
        TRY(proxy, make({}, {}));
    }
    if (access_.url.tls) {
        TRY(server, make(texts.certificate, texts.key));
    }
    const bool another = texts.certificate != texts_.certificate || texts.key != texts_.key;
    texts_ = std::move(texts);
    to_proxy_ = std::move(proxy);
    to_server_ = std::move(server);
    taken_ = true;
    return another;
}

Result<bool> ServerTls::show(std::string certificate_pem, std::string key_pem) {
    Texts texts = texts_;
    texts.certificate = std::move(certificate_pem);
    texts.key = std::move(key_pem);
    return take(std::move(texts));
}

Result<bool> ServerTls::refresh() {
    TRY(Texts texts, read());
    return take(std::move(texts));
}

}  // namespace muster::kube
