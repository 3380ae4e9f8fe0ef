#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "checkpoint/format/composed.h"
#include "checkpoint/format/image_view.h"

namespace muster::checkpoint {

/// Composes what torch.save would have written of an image: a zip archive with the tree as `data.pkl` and an
/// entry for each tensor. An image without a tree becomes a dictionary of its tensors. Reads the whole image once, with so many
/// threads, for the checksums of the archive. kInvalid, with the tensor: a storage of the tree that is not in the table or has another
/// length; two names that differ by the case of ASCII letters alone, which torch's reader takes for one.
Result<Composed> compose_torch(const ImageView& image, int threads);

/// The tree of an image without what follows it; empty: there is none. kInvalid, kUnsupported: it is no pickle.
Result<std::string_view> torch_pickle(const ImageView& image);

}  // namespace muster::checkpoint
