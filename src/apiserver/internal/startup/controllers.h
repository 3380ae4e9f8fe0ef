#pragma once

#include <memory>
#include <vector>

#include "apiserver/internal/controllers/controller.h"
#include "apiserver/internal/writing/writer.h"

namespace muster::apiserver {

/// The controllers that the options ask for, in the order in which they are called for a change. They refer to
/// both arguments.
std::vector<std::unique_ptr<Controller>> make_controllers(ServerState& state, Writer& writer);

}  // namespace muster::apiserver
