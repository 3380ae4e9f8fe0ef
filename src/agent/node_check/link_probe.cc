#include "agent/node_check/link_probe.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace muster::agent {
namespace {

// The connecting side sends kGreeting, the length of the secret in one byte, and the secret; the
// other side answers kReady. Then each command is a byte and an eight-byte big-endian number: kPing
// is answered by kPing, kOut is followed by that many bytes and answered by kReady, kIn is answered
// by that many bytes.
constexpr std::string_view kGreeting = "MLP1";
constexpr char kReady = 'r';
constexpr char kPing = 'p';
constexpr char kOut = 'o';
constexpr char kIn = 'i';

constexpr std::size_t kPiece = std::size_t{256} * 1024;
constexpr std::size_t kCommandBytes = 9;

Task<Result<void>> read_all(net::ByteStream& stream, asio::mutable_buffer into) {
    while (into.size() > 0) {
        CO_TRY(const std::size_t size, co_await stream.read_some(into));
        if (size == 0) co_return Error(Code::kUnavailable, "the other side ended the connection");
        into += size;
    }
    co_return Result<void>();
}

Task<Result<void>> read_answer(net::ByteStream& stream, char wanted) {
    char answer = 0;
    CO_TRY_VOID(co_await read_all(stream, asio::buffer(&answer, 1)));
    if (answer != wanted) co_return Error(Code::kBadRequest, "the answer is not that of a probe");
    co_return Result<void>();
}

std::array<char, kCommandBytes> command(char what, std::uint64_t number) {
    std::array<char, kCommandBytes> bytes{what};
    for (std::size_t i = 1; i < kCommandBytes; ++i)
        bytes[i] = static_cast<char>(number >> (8 * (kCommandBytes - 1 - i)) & 0xff);
    return bytes;
}

std::uint64_t number_of(const std::array<char, kCommandBytes>& bytes) {
    std::uint64_t number = 0;
    for (std::size_t i = 1; i < kCommandBytes; ++i)
        number = number << 8 | static_cast<unsigned char>(bytes[i]);
    return number;
}

Task<Result<void>> send(net::ByteStream& stream, std::vector<char>& piece, std::uint64_t bytes) {
    while (bytes > 0) {
        const std::size_t size = std::min<std::uint64_t>(bytes, piece.size());
        CO_TRY_VOID(co_await stream.write(asio::buffer(piece.data(), size)));
        bytes -= size;
    }
    co_return Result<void>();
}

Task<Result<void>> receive(net::ByteStream& stream, std::vector<char>& piece, std::uint64_t bytes) {
    while (bytes > 0) {
        const std::size_t size = std::min<std::uint64_t>(bytes, piece.size());
        CO_TRY_VOID(co_await read_all(stream, asio::buffer(piece.data(), size)));
        bytes -= size;
    }
    co_return Result<void>();
}

Task<Result<Duration>> round_trip(net::ByteStream& stream, Clock& clock, int pings) {
    std::vector<Duration> times;
    const auto ping = command(kPing, 0);
    for (int i = 0; i < std::max(pings, 1); ++i) {
        const Instant from = clock.now();
        CO_TRY_VOID(co_await stream.write(asio::buffer(ping)));
        CO_TRY_VOID(co_await read_answer(stream, kPing));
        times.push_back(clock.now() - from);
    }
    std::ranges::sort(times);
    co_return times[times.size() / 2];
}

/// In bytes per second.
Task<Result<double>> bulk(net::ByteStream& stream, Clock& clock, char what, ProbeEffort effort) {
    std::vector<char> piece(kPiece, 'm');
    for (std::uint64_t size = kPiece;; size *= 2) {
        const auto head = command(what, size);
        const Instant from = clock.now();
        CO_TRY_VOID(co_await stream.write(asio::buffer(head)));
        if (what == kOut) {
            CO_TRY_VOID(co_await send(stream, piece, size));
            CO_TRY_VOID(co_await read_answer(stream, kReady));
        } else {
            CO_TRY_VOID(co_await receive(stream, piece, size));
        }
        const Duration took = std::max(clock.now() - from, Duration(1));
        if (took >= effort.bulk || size >= effort.most)
            co_return static_cast<double>(size) / std::chrono::duration<double>(took).count();
    }
}

Task<Result<std::string>> read_secret(net::ByteStream& stream) {
    std::array<char, kGreeting.size() + 1> head{};
    CO_TRY_VOID(co_await read_all(stream, asio::buffer(head)));
    if (std::string_view(head.data(), kGreeting.size()) != kGreeting)
        co_return Error(Code::kBadRequest, "the message is not a probe of a node check");
    std::string secret(static_cast<unsigned char>(head.back()), '\0');
    CO_TRY_VOID(co_await read_all(stream, asio::buffer(secret)));
    co_return secret;
}

}  // namespace

Task<Result<job_protocol::LinkFigures>> measure_link(net::ByteStream& stream, Clock& clock,
                                                     std::string secret, ProbeEffort effort) {
    secret.resize(std::min<std::size_t>(secret.size(), 255));
    std::string greeting(kGreeting);
    greeting += static_cast<char>(secret.size());
    greeting += secret;
    CO_TRY_VOID(co_await stream.write(asio::buffer(greeting)));
    if (auto ready = co_await read_answer(stream, kReady); !ready)
        co_return std::move(ready).error().prefix("its probe was not accepted");
    job_protocol::LinkFigures figures;
    CO_TRY(figures.round_trip, co_await round_trip(stream, clock, effort.pings));
    CO_TRY(figures.bytes_out, co_await bulk(stream, clock, kOut, effort));
    CO_TRY(figures.bytes_in, co_await bulk(stream, clock, kIn, effort));
    co_return figures;
}

Task<Result<void>> answer_probe(net::ByteStream& stream,
                                std::function<Task<bool>(std::string secret)> admits) {
    CO_TRY(std::string secret, co_await read_secret(stream));
    if (!co_await admits(std::move(secret)))
        co_return Error(Code::kForbidden, "a probe of another check");
    CO_TRY_VOID(co_await stream.write(asio::buffer(&kReady, 1)));
    std::vector<char> piece(kPiece, 'm');
    for (;;) {
        std::array<char, kCommandBytes> head{};
        // The other side may close the stream between two commands.
        CO_TRY(const std::size_t size, co_await stream.read_some(asio::buffer(head)));
        if (size == 0) co_return Result<void>();
        CO_TRY_VOID(co_await read_all(stream, asio::buffer(head) + size));
        const std::uint64_t bytes = number_of(head);
        if (bytes > kMostProbed) co_return Error(Code::kBadRequest, "a probe that is too large");
        if (head[0] == kPing) {
            CO_TRY_VOID(co_await stream.write(asio::buffer(&kPing, 1)));
        } else if (head[0] == kOut) {
            CO_TRY_VOID(co_await receive(stream, piece, bytes));
            CO_TRY_VOID(co_await stream.write(asio::buffer(&kReady, 1)));
        } else if (head[0] == kIn) {
            CO_TRY_VOID(co_await send(stream, piece, bytes));
        } else {
            co_return Error(Code::kBadRequest, "the message is not a probe of a node check");
        }
    }
}

}  // namespace muster::agent
