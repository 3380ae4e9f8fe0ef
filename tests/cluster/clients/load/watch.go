package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// watched is what `load watch` prints. A change's latency runs from the moment its request was written to the
// moment the last watcher has it: the commit lies in between, so it is an upper bound.
type watched struct {
	Watchers int     `json:"watchers"`
	Changes  int     `json:"changes"`
	Seconds  float64 `json:"seconds"`
	P50      float64 `json:"p50_ms"`
	P99      float64 `json:"p99_ms"`
	Worst    float64 `json:"max_ms"`
}

const (
	watchedType  = "/api/v1/namespaces/default/configmaps"
	changeMarker = `"change":"`
)

// watch opens the watchers, says "ready" on standard error, waits for a line on standard input, and then makes
// the changes: its caller looks at the server's memory in between.
func watch(ctx context.Context, asked options) (any, error) {
	set, err := kubernetes.NewForConfig(asked.config)
	if err != nil {
		return nil, err
	}
	maps := set.CoreV1().ConfigMaps("default")
	object, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "watched"},
		Data: map[string]string{"change": "-1"}}, metav1.CreateOptions{})
	if err != nil {
		return nil, err
	}

	var mutex sync.Mutex
	last := make([]time.Time, asked.count)
	missing := make([]int, asked.count)
	for at := range missing {
		missing[at] = asked.connections
	}
	var group sync.WaitGroup
	failures := make(chan error, asked.connections)
	for range asked.connections {
		reader, err := openWatch(asked, object.ResourceVersion)
		if err != nil {
			return nil, err
		}
		group.Go(func() {
			seen := make([]time.Time, asked.count)
			if err := follow(reader, seen); err != nil {
				failures <- err
				return
			}
			mutex.Lock()
			defer mutex.Unlock()
			for at, when := range seen {
				missing[at]--
				if when.After(last[at]) {
					last[at] = when
				}
			}
		})
	}
	fmt.Fprintln(os.Stderr, "ready")
	if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil {
		return nil, err
	}

	sent := make([]time.Time, asked.count)
	begin := time.Now()
	ticks := time.NewTicker(time.Second / time.Duration(asked.rate))
	defer ticks.Stop()
	for at := range asked.count {
		<-ticks.C
		object.Data["change"] = fmt.Sprint(at)
		sent[at] = time.Now()
		if object, err = maps.Update(ctx, object, metav1.UpdateOptions{}); err != nil {
			return nil, err
		}
	}
	took := time.Since(begin).Seconds()
	group.Wait()
	close(failures)
	if err := <-failures; err != nil {
		return nil, err
	}
	latencies := make([]time.Duration, asked.count)
	for at := range latencies {
		if missing[at] != 0 {
			return nil, fmt.Errorf("change %d was missed by %d watchers", at, missing[at])
		}
		latencies[at] = last[at].Sub(sent[at])
	}
	sorted := sortedOf(latencies)
	return watched{asked.connections, asked.count, took, quantile(sorted, 0.5), quantile(sorted, 0.99), quantile(sorted, 1)}, nil
}

// openWatch returns the frames of one watch, on a connection of its own with small buffers.
func openWatch(asked options, version string) (*bufio.Reader, error) {
	server, err := url.Parse(asked.config.Host)
	if err != nil {
		return nil, err
	}
	secrets, err := tlsOf(asked.config)
	if err != nil {
		return nil, err
	}
	connection, err := tls.Dial("tcp", server.Host, secrets)
	if err != nil {
		return nil, err
	}
	if _, err := fmt.Fprintf(connection, "GET %s?watch=1&resourceVersion=%s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n"+
		"Accept: application/json\r\n\r\n", watchedType, version, server.Host, asked.config.BearerToken); err != nil {
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

// follow notes when each change came, until the last has. Changes come in order, each as one line.
func follow(frames *bufio.Reader, seen []time.Time) error {
	for at := range seen {
		line, err := frames.ReadSlice('\n')
		if err != nil {
			return fmt.Errorf("a watch ended before change %d: %w", at, err)
		}
		seen[at] = time.Now()
		_, rest, found := bytes.Cut(line, []byte(changeMarker))
		var number int
		if !found || json.Unmarshal(rest[:max(0, bytes.IndexByte(rest, '"'))], &number) != nil || number != at {
			return fmt.Errorf("change %d was awaited, this came: %.300s", at, line)
		}
	}
	return nil
}
