#include "checkpoint/storage/durable_text.h"

#include <fmt/format.h>

#include <span>

#include "checkpoint/storage/shard_writer.h"

namespace muster::checkpoint {

Result<std::string> read_text(const Storage& storage, std::string_view path, std::uint64_t limit) {
    TRY(const auto file, storage.open(path));
    if (file->bytes() > limit)
        return Error(Code::kTooLarge,
                     fmt::format("{} in {} has {} bytes; more than {} are not read", path,
                                 storage.name(), file->bytes(), limit));
    std::string text(file->bytes(), '\0');
    TRY_VOID(file->read(0, std::as_writable_bytes(std::span(text))));
    return text;
}

Result<void> write_text_durably(Storage& storage, std::string_view directory, std::string_view name,
                                std::string_view text) {
    TRY_VOID(write_shard(storage, directory, name, {std::as_bytes(std::span(text))}, 1));
    return storage.sync_directory(directory);
}

}  // namespace muster::checkpoint
