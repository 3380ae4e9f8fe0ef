#pragma once

#include <cstddef>

namespace muster::cli {

// Where the fields of a tar header are (POSIX.1-1988, and GNU's for long names).

inline constexpr std::size_t kTarBlock = 512;

struct TarField {
    std::size_t at;
    std::size_t size;
};
inline constexpr TarField kTarName{0, 100};
inline constexpr TarField kTarMode{100, 8};
inline constexpr TarField kTarUser{108, 8};
inline constexpr TarField kTarGroup{116, 8};
inline constexpr TarField kTarSize{124, 12};
inline constexpr TarField kTarChanged{136, 12};
inline constexpr TarField kTarChecksum{148, 8};
inline constexpr TarField kTarType{156, 1};
inline constexpr TarField kTarLink{157, 100};
inline constexpr TarField kTarMagic{257, 6};
inline constexpr TarField kTarPrefix{345, 155};

/// How many bytes of zeros follow a member's content.
constexpr std::size_t tar_padding(std::size_t size) {
    return (kTarBlock - size % kTarBlock) % kTarBlock;
}

}  // namespace muster::cli
