#include "store/internal/file/change_row.h"

#include <fmt/format.h>
#include <zlib.h>

#include <array>

#include "base/utf8.h"
#include "store/internal/object_tables.h"

namespace muster::store {

namespace {

/// Over every field, each with its length or of fixed length, so that no byte can move to another
/// field.
class Checksum {
  public:
    void add(std::int64_t number) {
        std::array<unsigned char, 8> bytes;
        for (std::size_t i = 0; i < bytes.size(); ++i)
            bytes[i] = static_cast<unsigned char>(static_cast<std::uint64_t>(number) >> (8 * i));
        value_ = crc32_z(value_, bytes.data(), bytes.size());
    }
    void add(std::string_view text) {
        add(static_cast<std::int64_t>(text.size()));
        value_ = crc32_z(value_, reinterpret_cast<const unsigned char*>(text.data()), text.size());
    }
    std::int64_t value() const { return static_cast<std::int64_t>(value_); }

  private:
    uLong value_ = crc32_z(0, nullptr, 0);
};

std::int64_t checksum(const StoreKey& key, std::int64_t revision, std::int64_t previous,
                      std::int64_t deleted, std::string_view object) {
    Checksum sum;
    sum.add(revision);
    sum.add(previous);
    sum.add(deleted);
    sum.add(key.resource);
    sum.add(key.namespace_);
    sum.add(key.name);
    sum.add(object);
    return sum.value();
}

}  // namespace

Result<void> insert(Statement& statement, const ChangeRow& row) {
    const std::string_view text = row.object->text();
    const auto revision = static_cast<std::int64_t>(row.revision);
    const auto previous = static_cast<std::int64_t>(row.previous);
    const std::int64_t deleted = row.deleted ? 1 : 0;
    statement.bind(1, revision);
    statement.bind_text(2, row.key.resource);
    statement.bind_text(3, row.key.namespace_);
    statement.bind_text(4, row.key.name);
    statement.bind(5, previous);
    statement.bind(6, deleted);
    statement.bind_blob(7, text);
    statement.bind(8, checksum(row.key, revision, previous, deleted, text));
    return statement.run("writing a change");
}

RawRow raw_row(const Statement& statement) {
    RawRow row;
    row.revision = statement.number(0);
    row.key.resource = statement.bytes(1);
    row.key.namespace_ = statement.bytes(2);
    row.key.name = statement.bytes(3);
    row.previous = statement.number(4);
    row.deleted = statement.number(5);
    row.object = std::make_shared<const ObjectText>(statement.bytes(6));
    row.checksum = statement.number(7);
    return row;
}

std::expected<ChangeRow, RowDamage> check_row(RawRow raw) {
    const auto damage = [&](std::string why) {
        return std::unexpected(
            RowDamage{fmt::format("row {} ({})", raw.revision, describe(raw.key)), std::move(why)});
    };
    if (checksum(raw.key, raw.revision, raw.previous, raw.deleted, raw.object->text()) !=
        raw.checksum)
        return damage("its checksum is wrong");
    if (raw.revision <= 0 || raw.previous < 0 || raw.previous >= raw.revision)
        return damage("its revisions can't be");
    if (!raw.object->is_object()) return damage("it holds no object");
    // An earlier version accepted such bytes, and clients can't read objects that have them.
    if (!is_utf8(raw.object->text()))
        raw.object = std::make_shared<const ObjectText>(as_utf8(raw.object->text()));
    ChangeRow row;
    row.object = std::move(raw.object);
    row.key = std::move(raw.key);
    row.revision = static_cast<Revision>(raw.revision);
    row.previous = static_cast<Revision>(raw.previous);
    row.deleted = raw.deleted != 0;
    return row;
}

}  // namespace muster::store
