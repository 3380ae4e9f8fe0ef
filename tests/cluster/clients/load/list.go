package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"
)

// listed is what `load list` prints: one connection, one list after the other.
type listed struct {
	Seconds []float64 `json:"seconds"`
	Bytes   int64     `json:"bytes"`
}

func list(ctx context.Context, asked options) (any, error) {
	client, err := clientOf(asked)
	if err != nil {
		return nil, err
	}
	var seen listed
	for range asked.count {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, asked.config.Host+asked.path, nil)
		if err != nil {
			return nil, err
		}
		request.Header.Set("Accept", "application/json")
		// Without this Go asks for gzip, and the time would be that of compressing.
		request.Header.Set("Accept-Encoding", "identity")
		begin := time.Now()
		answer, err := client.Do(request)
		if err != nil {
			return nil, err
		}
		seen.Bytes, err = io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
		if err != nil {
			return nil, err
		}
		if answer.StatusCode != http.StatusOK {
			return nil, fmt.Errorf("the list was answered %s", answer.Status)
		}
		seen.Seconds = append(seen.Seconds, time.Since(begin).Seconds())
	}
	return seen, nil
}
