#pragma once

#include <string>

#include "cli/internal/archive/tar_entry.h"

namespace muster::cli {

// An archive is, for each member, its header, its content, and tar_padding(); then its end. Pure.

/// Long names are written as GNU does, which GNU's tar, BusyBox' and BSD's read.
std::string tar_header(const TarEntry& entry);
std::string tar_end();

}  // namespace muster::cli
