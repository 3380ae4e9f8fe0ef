#pragma once

#include "base/result.h"
#include "checkpoint/format/composed.h"
#include "checkpoint/format/image_view.h"

namespace muster::checkpoint {

/// An image is a safetensors file as it is. kInvalid: the bytes are not as many as its table says.
Result<Composed> compose_safetensors(const ImageView& image);

}  // namespace muster::checkpoint
