package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/retry"
)

const (
	changes = 100 // of each object: its creation, its end, and updates between them
	writers = 16
)

// manyEvents lets one informer see a hundred events of each of w.objects, each once and in the order of its object, and keeps another away
// meanwhile: that one goes on without a gap, or begins again because it is told that it can't.
func manyEvents(ctx context.Context, w world) error {
	before, err := w.put(ctx, "many", "before", 1, nil)
	if err != nil {
		return err
	}
	live, err := newSource(w, "many").inform(ctx)
	if err != nil {
		return err
	}
	away, err := newSource(w, "many").inform(ctx)
	if err != nil {
		return err
	}
	for _, each := range []*informed{live, away} {
		if event, err := each.next(ctx); err != nil || event != "add before 1" {
			return fmt.Errorf("%q, %w: of what was there before", event, err)
		}
	}
	lists, since := live.asked()
	fmt.Printf("began by %d lists and %d watches\n", lists, len(since))
	if err := eventually(ctx, func() bool { _, since := away.asked(); return len(since) > 0 }); err != nil {
		return err
	}
	away.hold()
	if err := w.writeMany(ctx); err != nil {
		return err
	}
	if err := live.eachOnce(ctx, w.objects); err != nil {
		return err
	}
	if now, _ := live.asked(); now != lists {
		return fmt.Errorf("the informer listed %d times", now)
	}
	if _, err := w.put(ctx, "many", "before", 2, before); err != nil {
		return err
	}
	away.release()
	if _, err := away.until(ctx, "update before 2"); err != nil {
		return err
	}
	// The other objects came and went while it was away, or are told of one by one.
	return eventually(ctx, func() bool { return away.same(ctx) == nil })
}

func (w world) writeMany(ctx context.Context) error {
	names := make(chan string, w.objects)
	for number := range w.objects {
		names <- fmt.Sprintf("m%d", number)
	}
	close(names)
	failures := make(chan error, writers)
	var group sync.WaitGroup
	for range writers {
		group.Add(1)
		go func() {
			defer group.Done()
			for name := range names {
				if err := w.lifeOf(ctx, name); err != nil {
					failures <- err
					return
				}
			}
		}()
	}
	group.Wait()
	close(failures)
	return <-failures
}

func (w world) lifeOf(ctx context.Context, name string) error {
	made, err := w.put(ctx, "many", name, 1, nil)
	for step := 2; step < changes && err == nil; step++ {
		made, err = w.put(ctx, "many", name, step, made)
	}
	if err != nil {
		return err
	}
	return w.maps.Delete(ctx, name, metav1.DeleteOptions{})
}

func (i *informed) eachOnce(ctx context.Context, objects int) error {
	steps := map[string]int{}
	for range objects * changes {
		event, err := i.next(ctx)
		if err != nil {
			return err
		}
		words := strings.Fields(event)
		what, name := words[0], words[1]
		step, err := strconv.Atoi(words[2])
		if err != nil {
			return err
		}
		steps[name]++
		wanted, last := "update", steps[name] == changes
		if steps[name] == 1 {
			wanted = "add"
		} else if last {
			wanted = "delete"
			step++ // what went is as it was
		}
		if what != wanted || step != steps[name] {
			return fmt.Errorf("%q came as event %d of its object", event, steps[name])
		}
	}
	return nil
}

// counter lets writers count in one object, each trying again after a conflict: no count is lost, and a write that
// changes nothing tells nobody.
func counter(ctx context.Context, w world) error {
	const each = 10
	if _, err := w.put(ctx, "counter", "counter", 0, nil); err != nil {
		return err
	}
	informer, err := newSource(w, "counter").inform(ctx)
	if err != nil {
		return err
	}
	failures := make(chan error, writers)
	for range writers {
		go func() {
			var err error
			for range each {
				err = errors.Join(err, w.count(ctx))
			}
			failures <- err
		}()
	}
	for range writers {
		err = errors.Join(err, <-failures)
	}
	if err != nil {
		return err
	}
	if _, err := w.put(ctx, "counter", "end", 0, nil); err != nil {
		return err
	}
	seen, err := informer.until(ctx, "add end 0")
	if err != nil {
		return err
	}
	for step, event := range seen[:len(seen)-1] {
		wanted := fmt.Sprintf("update counter %d", step)
		if step == 0 {
			wanted = "add counter 0"
		}
		if event != wanted {
			return fmt.Errorf("%q came as event %d, %q was awaited", event, step, wanted)
		}
	}
	if len(seen) != writers*each+2 {
		return fmt.Errorf("%d events of %d counts", len(seen), writers*each)
	}
	return informer.same(ctx)
}

func (w world) count(ctx context.Context) error {
	// As often as the others together can be first.
	patience := wait.Backoff{Steps: 1000, Duration: time.Millisecond, Jitter: 1}
	return retry.RetryOnConflict(patience, func() error {
		now, err := w.maps.Get(ctx, "counter", metav1.GetOptions{})
		if err != nil {
			return err
		}
		step, err := strconv.Atoi(now.Labels["step"])
		if err != nil {
			return err
		}
		counted, err := w.put(ctx, "counter", "counter", step+1, now)
		if err != nil {
			return err
		}
		same, err := w.put(ctx, "counter", "counter", step+1, counted.DeepCopy())
		if apierrors.IsConflict(err) {
			return nil // another has counted meanwhile
		}
		if err == nil && same.ResourceVersion != counted.ResourceVersion {
			err = fmt.Errorf("a write that changed nothing made revision %s of %s", same.ResourceVersion, counted.ResourceVersion)
		}
		return err
	})
}

// rollover lets watches end at their time: the next one begins where a bookmark said, and nothing is listed again.
func rollover(ctx context.Context, w world) error {
	seconds := int64(4)
	from := newSource(w, "roll")
	from.timeout = &seconds
	informer, err := from.inform(ctx)
	if err != nil {
		return err
	}
	lists, _ := from.asked()
	other, err := w.put(ctx, "elsewhere", "other", 1, nil)
	if err != nil {
		return err
	}
	passed, err := strconv.ParseUint(other.ResourceVersion, 10, 64)
	if err != nil {
		return err
	}
	var reached uint64
	if err := eventually(ctx, func() bool {
		_, since := from.asked()
		reached, err = strconv.ParseUint(since[len(since)-1], 10, 64)
		return len(since) > 1
	}); err != nil {
		return fmt.Errorf("no second watch began: %w", err)
	}
	if reached < passed {
		return fmt.Errorf("the second watch began after revision %d, a bookmark had to bring it to %d", reached, passed)
	}
	if _, err := w.put(ctx, "roll", "later", 1, nil); err != nil {
		return err
	}
	if seen, err := informer.until(ctx, "add later 1"); err != nil || len(seen) != 1 {
		return fmt.Errorf("%q, %w", seen, err)
	}
	if now, _ := from.asked(); now != lists {
		return fmt.Errorf("%d lists instead of %d", now, lists)
	}
	return informer.same(ctx)
}

// restart follows a set whose server somebody else ends and starts again. It says "synced" when it sees the object
// "kept", reads what events to await from its input, a line each, says "seen" of each, and at last how often it had to
// begin again. Those of several objects may come in another order: older versions keep no other than that of each object.
func restart(ctx context.Context, w world) error {
	informer, err := newSource(w, "restart").inform(ctx)
	if err != nil {
		return err
	}
	if event, err := informer.next(ctx); err != nil || event != "add kept 1" {
		return fmt.Errorf("%q, %w", event, err)
	}
	lists, _ := informer.asked()
	fmt.Println("synced")
	input := bufio.NewScanner(os.Stdin)
	told := map[string]int{}
	for input.Scan() {
		for wanted := input.Text(); told[wanted] == 0; {
			event, err := informer.next(ctx)
			if err != nil {
				return fmt.Errorf("%q was awaited after %v: %w", wanted, told, err)
			}
			told[event]++
		}
		told[input.Text()]--
		fmt.Println("seen")
	}
	for event, times := range told {
		if times != 0 {
			return fmt.Errorf("%q came, too", event)
		}
	}
	now, _ := informer.asked()
	fmt.Printf("%d more lists\n", now-lists)
	return errors.Join(input.Err(), informer.same(ctx))
}
