#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>

#include "base/async/task_group.h"
#include "base/rng.h"
#include "store/store_folder_fixture.h"

namespace muster::store::crash_test {
namespace {

constexpr int kClients = 8;
constexpr std::size_t kNames = 5;  // of each client

/// What a client has done to its objects, by a seed: both sides know it without telling each other.
class Script {
  public:
    Script(int client, std::uint64_t seed, std::map<std::string, std::string> objects)
        : client_(client), rng_(seed), objects_(std::move(objects)) {}

    struct Step {
        std::string name;
        std::optional<std::string> text;  // none: it is removed
    };
    Step next() {
        Step step;
        step.name = fmt::format("{}-{}", client_, rng_.below(kNames));
        const bool there = objects_.contains(step.name);
        if (!there || rng_.chance(0.7))
            step.text = fmt::format("{} {}", rng_.next(), std::string(rng_.below(2000), 'x'));
        if (step.text)
            objects_[step.name] = *step.text;
        else
            objects_.erase(step.name);
        return step;
    }
    const std::map<std::string, std::string>& objects() const { return objects_; }

  private:
    int client_;
    Rng rng_;
    std::map<std::string, std::string> objects_;
};

/// One byte on the pipe for each confirmed write: the client's number.
Task<void> follow(Store& store, Script script, int client, int pipe) {
    for (;;) {
        const Script::Step step = script.next();
        const StoreKey key{"pods", "default", step.name};
        auto make = [text = step.text.value_or("gone")](Revision) {
            return std::make_shared<const json::value>(json::object{{"text", text}});
        };
        auto now = co_await store.get(key);
        Result<StoredObject> done = Error(Code::kInternal, "not written");
        if (!step.text)
            done = co_await store.remove(key, now->revision, make);
        else if (now)
            done = co_await store.update(key, now->revision, make);
        else
            done = co_await store.create(key, make);
        if (!done) _exit(3);
        const char byte = static_cast<char>(client);
        if (write(pipe, &byte, 1) != 1) _exit(4);
    }
}

using Objects = std::map<std::string, std::string>;

[[noreturn]] void run_writer(const std::string& path, std::uint64_t round,
                             const std::vector<Objects>& objects, int pipe) {
    RealLoop loop;
    SqliteStoreOptions options;
    options.history.changes = 50;
    options.checkpoint_bytes = 32u << 10;
    options.log_limit_bytes = 128u << 10;
    auto store = open_sqlite_store(path, options, loop.context.get_executor());
    if (!store) _exit(2);
    TaskGroup tasks(loop.context.get_executor());
    for (int i = 0; i < kClients; ++i)
        tasks.spawn(
            "client",
            follow(**store, Script(i, round * 100 + std::uint64_t(i), objects[std::size_t(i)]), i,
                   pipe));
    loop.context.run();
    _exit(5);
}

class CrashTest : public StoreFileTest {
  protected:
    Objects objects_of(int client) {
        Objects found;
        for (const StoredObject& object : *await(store_->list("pods", "", std::nullopt, 0)))
            if (object.key.name.starts_with(fmt::format("{}-", client)))
                found[object.key.name] = object.object->tree()->at("text").as_string();
        return found;
    }
};

TEST_F(CrashTest, WhatWasConfirmedOutlivesAKill) {
    Rng rng(7);
    std::vector<Objects> known(kClients);
    Revision revision = 0;
    for (std::uint64_t round = 1; round <= 20; ++round) {
        SCOPED_TRACE(fmt::format("round {}", round));
        int ends[2];
        ASSERT_EQ(pipe(ends), 0);
        const pid_t child = fork();
        ASSERT_GE(child, 0);
        if (child == 0) {
            ::close(ends[0]);
            run_writer(folder_.path(), round, known, ends[1]);
        }
        ::close(ends[1]);
        std::vector<std::size_t> confirmed(kClients);
        std::uint64_t left = 1 + rng.below(300);
        std::uint64_t count = 0;
        char byte = 0;
        while (read(ends[0], &byte, 1) == 1) {  // what is in the pipe was confirmed too
            ++confirmed.at(static_cast<std::size_t>(byte));
            ++count;
            if (--left == 0) kill(child, SIGKILL);
        }
        ::close(ends[0]);
        int status = 0;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        ASSERT_TRUE(WIFSIGNALED(status)) << "it ended by itself with " << WEXITSTATUS(status);

        open();
        EXPECT_GE(store_->revision(), revision + count);
        revision = store_->revision();
        for (int i = 0; i < kClients; ++i) {
            Script script(i, round * 100 + std::uint64_t(i), known[std::size_t(i)]);
            for (std::size_t step = 0; step < confirmed[std::size_t(i)]; ++step) script.next();
            const Objects found = objects_of(i);
            if (found != script.objects()) {
                script.next();  // under way when the process died
                EXPECT_EQ(found, script.objects()) << "client " << i;
            }
            known[std::size_t(i)] = found;
        }
        close();
    }
}

}  // namespace
}  // namespace muster::store::crash_test
