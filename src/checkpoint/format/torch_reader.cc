#include "checkpoint/format/torch_reader.h"

#include <fmt/format.h>

#include <cstddef>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "checkpoint/format/shown_name.h"
#include "checkpoint/pickle/pickle_reader.h"

namespace muster::checkpoint {
namespace {

Error wrong_file(std::string_view what) {
    return Error(Code::kInvalid, fmt::format("a file of torch: {}", what));
}

Result<std::string> content_of(const FileBytes& file, const ZipEntry& entry) {
    if (entry.bytes > PickleLimits().bytes) return wrong_file("a tree that is too long");
    std::string content(entry.bytes, '\0');
    TRY_VOID(file.read(entry.begin, std::as_writable_bytes(std::span(content))));
    return content;
}

}  // namespace

Result<TorchFile> read_torch_file(const FileBytes& file) {
    TRY(const auto entries, read_zip(file));
    if (entries.empty()) return wrong_file("it is empty");
    // All are in one folder, which has the name of the archive.
    const std::string folder = entries.front().name.substr(0, entries.front().name.find('/') + 1);
    std::unordered_map<std::string_view, const ZipEntry*> by_name;
    for (const ZipEntry& entry : entries)
        if (entry.name.starts_with(folder))
            by_name.emplace(std::string_view(entry.name).substr(folder.size()), &entry);
    const auto find = [&](std::string_view name) -> const ZipEntry* {
        const auto found = by_name.find(name);
        return found == by_name.end() ? nullptr : found->second;
    };
    if (const ZipEntry* const order = find("byteorder")) {
        TRY(const std::string said, content_of(file, *order));
        if (said != "little")
            return Error(Code::kUnsupported, "a file of torch whose numbers are big-endian");
    }
    const ZipEntry* const pickle = find("data.pkl");
    if (pickle == nullptr) return wrong_file("it has no data.pkl");
    TorchFile read;
    TRY(read.pickle, content_of(file, *pickle));
    TRY(read.tree, read_pickle(read.pickle));
    TRY(auto storages, torch_storages(read.tree));
    for (TorchStorage& storage : storages) {
        const ZipEntry* const entry = find("data/" + storage.key);
        if (entry == nullptr || storage.bytes() > entry->bytes)
            return wrong_file(
                fmt::format("the numbers of the storage {} are missing", shown_name(storage.key)));
        read.storages.push_back(
            {.storage = std::move(storage), .begin = entry->begin, .bytes = entry->bytes});
    }
    return read;
}

}  // namespace muster::checkpoint
