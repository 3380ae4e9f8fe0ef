#include "checkpoint/copy/streaming.h"

#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace muster::checkpoint {

#if defined(__x86_64__)
namespace {

/// Less than this stays in the cache of the core, and is copied there sooner.
constexpr std::size_t kWorthStreaming = std::size_t{256} * 1024;
constexpr std::size_t kLine = 64;

}  // namespace

void stream(std::byte* to, const std::byte* from, std::size_t bytes) {
    if (bytes < kWorthStreaming) {
        std::memcpy(to, from, bytes);
        return;
    }
    const std::size_t head = (kLine - reinterpret_cast<std::uintptr_t>(to) % kLine) % kLine;
    std::memcpy(to, from, head);
    std::size_t at = head;
    for (; bytes - at >= kLine; at += kLine) {
        const auto* const source = reinterpret_cast<const __m128i*>(from + at);
        auto* const line = reinterpret_cast<__m128i*>(to + at);
        const __m128i a = _mm_loadu_si128(source);
        const __m128i b = _mm_loadu_si128(source + 1);
        const __m128i c = _mm_loadu_si128(source + 2);
        const __m128i d = _mm_loadu_si128(source + 3);
        _mm_stream_si128(line, a);
        _mm_stream_si128(line + 1, b);
        _mm_stream_si128(line + 2, c);
        _mm_stream_si128(line + 3, d);
    }
    std::memcpy(to + at, from + at, bytes - at);
}

void end_streams() { _mm_sfence(); }

#else

void stream(std::byte* to, const std::byte* from, std::size_t bytes) {
    std::memcpy(to, from, bytes);
}
void end_streams() {}

#endif

}  // namespace muster::checkpoint
