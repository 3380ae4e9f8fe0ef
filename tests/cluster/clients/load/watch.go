package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// watched is what `load watch` prints: when it sent each change, and when the last watcher had it.
type watched struct {
	Watchers int      `json:"watchers"`
	Seconds  float64  `json:"seconds"`
	Changes  []change `json:"changes"`
}

type change struct {
	Object string `json:"object"`
	Sent   int64  `json:"sent_us"` // since 1970
	Last   int64  `json:"last_us"`
}

const (
	watchedType  = "/api/v1/namespaces/default/configmaps"
	changeMarker = `"change":"`
)

// writers change an object each: one alone could not offer more changes than there are round trips in a second.
const writers = 8

// watch opens the watchers, says "ready" on standard error, waits for a line on standard input, and then makes
// the changes: its caller looks at the server's memory in between.
func watch(ctx context.Context, asked options) (any, error) {
	set, err := kubernetes.NewForConfig(asked.config)
	if err != nil {
		return nil, err
	}
	maps := set.CoreV1().ConfigMaps("default")
	var objects [writers]*corev1.ConfigMap
	for at := range objects {
		objects[at], err = maps.Create(ctx, &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("watched-%d", at)}, Data: map[string]string{"change": "-1"},
		}, metav1.CreateOptions{})
		if err != nil {
			return nil, err
		}
	}

	// Of each change: how many have not seen it yet, and when the last of them did.
	missing := make([]atomic.Int32, asked.count)
	last := make([]time.Time, asked.count)
	for at := range missing {
		missing[at].Store(int32(asked.connections))
	}
	failures := make(chan error, asked.connections+writers)
	var watchers sync.WaitGroup
	for range asked.connections {
		reader, err := openWatch(asked, objects[writers-1].ResourceVersion)
		if err != nil {
			return nil, err
		}
		watchers.Go(func() {
			if err := follow(reader, missing, last); err != nil {
				failures <- err
			}
		})
	}
	fmt.Fprintln(os.Stderr, "ready")
	if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil {
		return nil, err
	}

	made := make([]change, asked.count)
	due := make(chan int)
	var changes sync.WaitGroup
	for _, object := range objects {
		changes.Go(func() {
			for at := range due {
				object.Data["change"] = fmt.Sprint(at)
				made[at] = change{Object: object.Name, Sent: time.Now().UnixMicro()}
				var err error
				if object, err = maps.Update(ctx, object, metav1.UpdateOptions{}); err != nil {
					failures <- err
					return
				}
			}
		})
	}
	begin := time.Now()
	ticks := time.NewTicker(time.Second / time.Duration(asked.rate))
	defer ticks.Stop()
	for at := range asked.count {
		<-ticks.C
		select {
		case due <- at:
		case err := <-failures:
			return nil, err
		}
	}
	close(due)
	changes.Wait()
	took := time.Since(begin).Seconds()
	watchers.Wait()
	close(failures)
	if err := <-failures; err != nil {
		return nil, err
	}
	for at := range made {
		made[at].Last = last[at].UnixMicro()
	}
	return watched{asked.connections, took, made}, nil
}

// openWatch returns the frames of one watch, on a connection of its own with small buffers.
func openWatch(asked options, version string) (*bufio.Reader, error) {
	connection, host, err := dial(asked)
	if err != nil {
		return nil, err
	}
	if _, err := fmt.Fprintf(connection, "GET %s?watch=1&resourceVersion=%s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n"+
		"Accept: application/json\r\n\r\n", watchedType, version, host, asked.config.BearerToken); err != nil {
		return nil, err
	}
	answer, err := http.ReadResponse(bufio.NewReaderSize(connection, 4096), nil)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(answer.Body)
		return nil, fmt.Errorf("the watch was answered %s: %.300s", answer.Status, text)
	}
	return bufio.NewReaderSize(answer.Body, 4096), nil
}

// follow counts down each change as it comes, until all have come, each once. Who comes last notes when.
func follow(frames *bufio.Reader, missing []atomic.Int32, last []time.Time) error {
	seen := make([]bool, len(missing))
	for came := range seen {
		line, err := frames.ReadSlice('\n')
		if err != nil {
			return fmt.Errorf("a watch ended after %d changes: %w", came, err)
		}
		_, rest, found := bytes.Cut(line, []byte(changeMarker))
		if !found {
			return fmt.Errorf("no change: %.300s", line)
		}
		at, err := strconv.Atoi(string(rest[:max(0, bytes.IndexByte(rest, '"'))]))
		if err != nil || at < 0 || at >= len(seen) || seen[at] {
			return fmt.Errorf("a change that was not made, or came twice: %.300s", line)
		}
		seen[at] = true
		if missing[at].Add(-1) == 0 {
			last[at] = time.Now()
		}
	}
	return nil
}
