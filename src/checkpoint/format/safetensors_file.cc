#include "checkpoint/format/safetensors_file.h"

namespace muster::checkpoint {

Result<Composed> compose_safetensors(const ImageView& image) {
    TRY_VOID(image.check());
    Composed file;
    file.add(image.bytes);
    return file;
}

}  // namespace muster::checkpoint
