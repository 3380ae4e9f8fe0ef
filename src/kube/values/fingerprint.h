#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace muster::kube {

/// 128 bits that stand for a sequence of texts, so that a map of seen texts need not keep them: two
/// different sequences never collide in practice.
struct Fingerprint {
    std::uint64_t high = 0x9e3779b97f4a7c15;
    std::uint64_t low = 0xd6e8feb86659fd93;

    friend bool operator==(const Fingerprint&, const Fingerprint&) = default;

    /// The fingerprint of the sequence with one more text at its end.
    Fingerprint with(std::string_view text) const {
        Fingerprint next = *this;
        next.add(text.size() + 1);
        while (!text.empty()) {
            std::uint64_t word = 0;
            const std::size_t bytes = std::min(text.size(), sizeof(word));
            std::memcpy(&word, text.data(), bytes);
            next.add(word);
            text.remove_prefix(bytes);
        }
        return next;
    }

    struct Hash {
        std::size_t operator()(const Fingerprint& of) const { return of.high ^ of.low; }
    };

  private:
    void add(std::uint64_t word) {
        high = fold(high ^ word, 0xa0761d6478bd642f);
        low = fold(low + word, 0xe7037ed1a0b428db) ^ high;
    }
    /// Both halves of the product: every bit of it depends on every bit of the factors.
    static std::uint64_t fold(std::uint64_t a, std::uint64_t b) {
        const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
        return static_cast<std::uint64_t>(product >> 64) ^ static_cast<std::uint64_t>(product);
    }
};

}  // namespace muster::kube
