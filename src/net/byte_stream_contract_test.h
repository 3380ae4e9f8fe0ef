#pragma once

#include <gtest/gtest.h>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/test_loop.h"
#include "net/byte_stream.h"

namespace muster::net {

/// What every ByteStream must do, whatever is below it. A test program names a world with
/// `TestLoop& loop()`, `std::pair<unique_ptr<ByteStream>, unique_ptr<ByteStream>> connect()` (two
/// ends of a new connection), `bool tells_cuts()` (whether a close() without shut_down_write() is
/// an error for the other side), and instantiates the suite for it.
template <class World>
class ByteStreamContract : public ::testing::Test {
  protected:
    ByteStreamContract() { std::tie(near_, far_) = world_.connect(); }

    static Task<Result<std::string>> read_up_to(ByteStream& stream, std::size_t most) {
        std::string bytes(most, '\0');
        CO_TRY(const std::size_t size, co_await stream.read_some(asio::buffer(bytes)));
        bytes.resize(size);
        co_return bytes;
    }
    static Task<Result<void>> write_text(ByteStream& stream, std::string text) {
        co_return co_await stream.write(asio::buffer(text));
    }
    /// Everything up to the clean end.
    static Task<Result<std::string>> read_all(ByteStream& stream) {
        std::string all;
        for (;;) {
            CO_TRY(std::string piece, co_await read_up_to(stream, 1000));
            if (piece.empty()) co_return all;
            all += piece;
        }
    }

    std::string read(ByteStream& stream, std::size_t most = 1000) {
        auto bytes = world_.loop().await(read_up_to(stream, most));
        EXPECT_TRUE(bytes) << bytes.error().message();
        return bytes ? *bytes : "error";
    }
    /// Exactly so many bytes, in however many reads.
    std::string read_exactly(ByteStream& stream, std::size_t count) {
        std::string bytes;
        while (bytes.size() < count) {
            const std::string piece = read(stream, count - bytes.size());
            if (piece.empty()) return bytes + " and ended";
            bytes += piece;
        }
        return bytes;
    }
    void write(ByteStream& stream, std::string text) {
        auto written = world_.loop().await(write_text(stream, std::move(text)));
        EXPECT_TRUE(written) << written.error().message();
    }
    void shut_down(ByteStream& stream) {
        auto done = world_.loop().await(stream.shut_down_write());
        EXPECT_TRUE(done) << done.error().message();
    }

    /// A task that runs beside the test, which can be cancelled.
    template <class T>
    struct Pending {
        std::optional<T> value;
        bool thrown = false;
        asio::cancellation_signal cancel;
        bool ended() const { return thrown || value.has_value(); }
    };
    template <class T>
    std::unique_ptr<Pending<T>> start(Task<T> task) {
        auto pending = std::make_unique<Pending<T>>();
        asio::co_spawn(world_.loop().context, std::move(task),
                       asio::bind_cancellation_slot(
                           pending->cancel.slot(),
                           [state = pending.get()](std::exception_ptr thrown, T value) {
                               state->thrown = thrown != nullptr;
                               if (!thrown) state->value.emplace(std::move(value));
                           }));
        world_.loop().settle();
        return pending;
    }
    template <class T>
    void wait_for(Pending<T>& pending) {
        world_.loop().run_until([&] { return pending.ended(); });
    }

    World world_;
    std::unique_ptr<ByteStream> near_;
    std::unique_ptr<ByteStream> far_;
};

TYPED_TEST_SUITE_P(ByteStreamContract);

TYPED_TEST_P(ByteStreamContract, BytesArriveInOrderInBothDirections) {
    this->write(*this->near_, "one");
    this->write(*this->near_, "two");
    this->write(*this->far_, "three");
    EXPECT_EQ(this->read_exactly(*this->far_, 6), "onetwo");
    EXPECT_EQ(this->read_exactly(*this->near_, 5), "three");
}

TYPED_TEST_P(ByteStreamContract, AReadTakesNoMoreThanItAskedFor) {
    this->write(*this->near_, "abcdef");
    EXPECT_EQ(this->read(*this->far_, 2), "ab");
    EXPECT_EQ(this->read_exactly(*this->far_, 4), "cdef");
}

TYPED_TEST_P(ByteStreamContract, PiecesGoOutInTheirOrder) {
    const std::string head = "head ", body = "body ", empty, tail = "tail";
    auto written = this->world_.loop().await(this->near_->write(
        {asio::buffer(head), asio::buffer(body), asio::buffer(empty), asio::buffer(tail)}));
    ASSERT_TRUE(written) << written.error().message();
    EXPECT_EQ(this->read_exactly(*this->far_, 14), "head body tail");
}

TYPED_TEST_P(ByteStreamContract, NothingWrittenIsNothingRead) {
    this->write(*this->near_, "");
    this->write(*this->near_, "x");
    EXPECT_EQ(this->read(*this->far_), "x");
}

TYPED_TEST_P(ByteStreamContract, MoreThanAnyBufferArrivesWhole) {
    std::string large;
    for (int i = 0; large.size() < 9'000'000; ++i) large += std::to_string(i) + " ";
    auto reading = this->start(this->read_all(*this->far_));
    auto writing = this->start(this->write_text(*this->near_, large));
    this->wait_for(*writing);
    ASSERT_TRUE(writing->value && *writing->value);
    this->shut_down(*this->near_);
    this->wait_for(*reading);
    ASSERT_TRUE(reading->value && *reading->value);
    EXPECT_TRUE(**reading->value == large) << "the bytes differ";
}

TYPED_TEST_P(ByteStreamContract, AWriterWaitsForItsReader) {
    const std::string large(9'000'000, 'x');
    auto writing = this->start(this->write_text(*this->near_, large));
    EXPECT_FALSE(writing->ended());
    std::size_t read = 0;
    while (read < large.size()) read += this->read(*this->far_, 100'000).size();
    this->wait_for(*writing);
    EXPECT_TRUE(writing->value && *writing->value);
}

TYPED_TEST_P(ByteStreamContract, WhatIsTakenAtOnceIsTheBeginning) {
    std::string all;
    for (int i = 0; all.size() < 9'000'000; ++i) all += std::to_string(i) + " ";
    std::string_view left = all;
    for (std::size_t taken = 1; taken > 0; left.remove_prefix(taken))
        taken = this->near_->write_now(asio::buffer(left));
    EXPECT_FALSE(left.empty()) << "there is no room for so much";
    auto writing = this->start(this->write_text(*this->near_, std::string(left)));
    EXPECT_TRUE(this->read_exactly(*this->far_, all.size()) == all) << "the bytes differ";
    this->wait_for(*writing);
    this->near_->close();
    EXPECT_EQ(this->near_->write_now(asio::buffer(all)), 0u);
}

TYPED_TEST_P(ByteStreamContract, WhatWasTakenAndNotSentGoesFirst) {
    std::string taken;
    for (int i = 0; taken.size() < 90'000'000; ++i) {
        const std::string piece = std::to_string(i) + std::string(4000, ' ');
        const std::size_t size = this->near_->write_now(asio::buffer(piece));
        taken += piece.substr(0, size);
        if (size == 0) break;
    }
    ASSERT_FALSE(taken.empty());
    ASSERT_LT(taken.size(), 90'000'000u) << "there is room for anything";
    auto writing = this->start(this->write_text(*this->near_, ""));
    EXPECT_TRUE(this->read_exactly(*this->far_, taken.size()) == taken) << "the bytes differ";
    this->wait_for(*writing);
    ASSERT_TRUE(writing->value && *writing->value);
    EXPECT_FALSE(this->near_->has_unsent());
    EXPECT_EQ(this->near_->write_now(asio::buffer("next", 4)), 4u);
    EXPECT_EQ(this->read_exactly(*this->far_, 4), "next");
}

TYPED_TEST_P(ByteStreamContract, AHalfIsClosedAndTheOtherGoesOn) {
    this->write(*this->near_, "question");
    this->shut_down(*this->near_);
    EXPECT_EQ(this->read_exactly(*this->far_, 8), "question");
    EXPECT_EQ(this->read(*this->far_), "");
    EXPECT_EQ(this->read(*this->far_), "") << "an end stays one";
    this->write(*this->far_, "answer");
    this->shut_down(*this->far_);
    EXPECT_EQ(this->read_exactly(*this->near_, 6), "answer");
    EXPECT_EQ(this->read(*this->near_), "");
}

TYPED_TEST_P(ByteStreamContract, ACloseIsAnEndAndOverTlsACut) {
    this->write(*this->near_, "last");
    this->near_->close();
    EXPECT_EQ(this->read_exactly(*this->far_, 4), "last");
    const auto after = this->world_.loop().await(this->read_up_to(*this->far_, 10));
    if (this->world_.tells_cuts()) {
        ASSERT_FALSE(after);
        EXPECT_EQ(after.error().code(), Code::kUnavailable);
    } else {
        ASSERT_TRUE(after) << after.error().message();
        EXPECT_EQ(*after, "");
    }
}

TYPED_TEST_P(ByteStreamContract, AWriteToNobodyFails) {
    this->far_.reset();
    // What is below may take some bytes before it knows.
    Result<void> written;
    for (int i = 0; i < 100 && written; ++i)
        written =
            this->world_.loop().await(this->write_text(*this->near_, std::string(100'000, 'x')));
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().code(), Code::kUnavailable);
}

TYPED_TEST_P(ByteStreamContract, CloseEndsWhatWaits) {
    auto reading = this->start(this->read_up_to(*this->near_, 10));
    auto writing = this->start(this->write_text(*this->near_, std::string(9'000'000, 'x')));
    EXPECT_FALSE(reading->ended());
    EXPECT_FALSE(writing->ended());
    this->near_->close();
    this->wait_for(*reading);
    this->wait_for(*writing);
    ASSERT_TRUE(reading->value && writing->value) << "an error, not an exception";
    EXPECT_EQ(reading->value->error().code(), Code::kCancelled);
    EXPECT_EQ(writing->value->error().code(), Code::kCancelled);
    const auto later = this->world_.loop().await(this->read_up_to(*this->near_, 10));
    ASSERT_FALSE(later);
    EXPECT_EQ(later.error().code(), Code::kCancelled);
}

TYPED_TEST_P(ByteStreamContract, ACancelledReaderLosesNothing) {
    auto reading = this->start(this->read_up_to(*this->far_, 10));
    EXPECT_FALSE(reading->ended());
    reading->cancel.emit(asio::cancellation_type::terminal);
    this->wait_for(*reading);
    EXPECT_TRUE(reading->thrown);
    this->write(*this->near_, "still here");
    EXPECT_EQ(this->read_exactly(*this->far_, 10), "still here");
}

TYPED_TEST_P(ByteStreamContract, ACancelledWriterEnds) {
    auto writing = this->start(this->write_text(*this->near_, std::string(9'000'000, 'x')));
    EXPECT_FALSE(writing->ended());
    writing->cancel.emit(asio::cancellation_type::terminal);
    this->wait_for(*writing);
    EXPECT_TRUE(writing->thrown);
}

TYPED_TEST_P(ByteStreamContract, AReaderWaitsWhileAWriterWrites) {
    auto reading = this->start(this->read_up_to(*this->near_, 10));
    this->write(*this->near_, "ping");
    EXPECT_EQ(this->read_exactly(*this->far_, 4), "ping");
    this->write(*this->far_, "pong");
    this->wait_for(*reading);
    ASSERT_TRUE(reading->value && *reading->value);
    EXPECT_EQ(**reading->value, "pong");
}

TYPED_TEST_P(ByteStreamContract, WhatHasComeIsSeenWithoutReading) {
    // What a layer says of its own at the beginning is read along with the first bytes.
    this->write(*this->far_, "ping");
    EXPECT_EQ(this->read_exactly(*this->near_, 4), "ping");
    EXPECT_FALSE(this->near_->has_input());
    const auto comes = [&] { return this->near_->has_input(); };
    this->write(*this->far_, "pong");
    this->world_.loop().run_until(comes);
    EXPECT_EQ(this->read_exactly(*this->near_, 4), "pong");
    EXPECT_FALSE(this->near_->has_input());
    this->shut_down(*this->far_);
    this->world_.loop().run_until(comes);
    this->near_->close();
    EXPECT_TRUE(this->near_->has_input());
}

TYPED_TEST_P(ByteStreamContract, TheOtherSideHasAnAddress) {
    EXPECT_FALSE(this->near_->peer_address().empty());
    EXPECT_FALSE(this->far_->peer_address().empty());
}

TYPED_TEST_P(ByteStreamContract, WhatGathersIsReadByTheNextRead) {
    for (const char* text : {"one", "two", "three"}) {
        this->write(*this->near_, text);
        EXPECT_EQ(this->read_exactly(*this->far_, std::string_view(text).size()), text);
        (void)this->far_->gather();
    }
    auto reading = this->start(this->read_up_to(*this->far_, 100));
    EXPECT_FALSE(reading->ended());
    this->write(*this->near_, "a");
    this->wait_for(*reading);
    EXPECT_EQ(reading->value->value(), "a");
    (void)this->far_->gather();
    this->write(*this->near_, "b");
    this->world_.loop().run_until([&] { return this->far_->has_input(); });
    EXPECT_EQ(this->read(*this->far_), "b");
    (void)this->far_->gather();
    this->shut_down(*this->near_);
    EXPECT_EQ(this->read(*this->far_), "");
}

REGISTER_TYPED_TEST_SUITE_P(ByteStreamContract, BytesArriveInOrderInBothDirections,
                            AReadTakesNoMoreThanItAskedFor, PiecesGoOutInTheirOrder,
                            NothingWrittenIsNothingRead, MoreThanAnyBufferArrivesWhole,
                            AWriterWaitsForItsReader, WhatIsTakenAtOnceIsTheBeginning,
                            WhatWasTakenAndNotSentGoesFirst, AHalfIsClosedAndTheOtherGoesOn,
                            ACloseIsAnEndAndOverTlsACut, AWriteToNobodyFails, CloseEndsWhatWaits,
                            ACancelledReaderLosesNothing, ACancelledWriterEnds,
                            AReaderWaitsWhileAWriterWrites, WhatHasComeIsSeenWithoutReading,
                            WhatGathersIsReadByTheNextRead, TheOtherSideHasAnAddress);

}  // namespace muster::net
