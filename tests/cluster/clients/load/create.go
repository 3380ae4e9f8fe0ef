package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// podOf makes a pod of about `size` bytes of JSON, bound to a node that nobody serves, so that nothing happens to it.
func podOf(name string, size int) (*corev1.Pod, error) {
	pod := &corev1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default",
			Labels:      map[string]string{"app": "load", "tier": "bench"},
			Annotations: map[string]string{"example.org/payload": ""}},
		Spec: corev1.PodSpec{NodeName: "elsewhere", RestartPolicy: corev1.RestartPolicyNever,
			Containers: []corev1.Container{{Name: "main", Image: "registry.example.org/team/train:1",
				Command: []string{"python", "train.py", "--epochs", "3"},
				Env:     []corev1.EnvVar{{Name: "RANK", Value: "0"}, {Name: "WORLD_SIZE", Value: "4"}}}}},
	}
	bare, err := json.Marshal(pod)
	if err != nil {
		return nil, err
	}
	if missing := size - len(bare); missing > 0 {
		pod.Annotations["example.org/payload"] = strings.Repeat("x", missing)
	}
	return pod, nil
}

// created is what `load create` prints: latencies are those of single requests.
type created struct {
	Seconds float64 `json:"seconds"`
	Rate    float64 `json:"rate"`
	P50     float64 `json:"p50_ms"`
	P99     float64 `json:"p99_ms"`
}

type sender func(ctx context.Context, pod *corev1.Pod) error

func create(ctx context.Context, asked options) (any, error) {
	senders := make([]sender, asked.connections)
	var shared sender
	for at := range senders {
		if asked.http2 && shared != nil {
			senders[at] = shared
			continue
		}
		var err error
		if shared, err = clientGoSender(asked); err != nil {
			return nil, err
		}
		senders[at] = shared
	}
	pods := make([]*corev1.Pod, asked.count)
	for at := range pods {
		var err error
		if pods[at], err = podOf(fmt.Sprintf("load-%d-%06d", time.Now().Unix(), at), asked.size); err != nil {
			return nil, err
		}
	}

	var next atomic.Int64
	var group sync.WaitGroup
	latencies := make([]time.Duration, asked.count)
	failures := make(chan error, asked.connections)
	begin := time.Now()
	for _, send := range senders {
		group.Go(func() {
			for {
				at := int(next.Add(1) - 1)
				if at >= asked.count {
					return
				}
				sent := time.Now()
				if err := send(ctx, pods[at]); err != nil {
					failures <- err
					return
				}
				latencies[at] = time.Since(sent)
			}
		})
	}
	group.Wait()
	took := time.Since(begin).Seconds()
	close(failures)
	if err := <-failures; err != nil {
		return nil, err
	}
	sorted := sortedOf(latencies)
	return created{took, float64(asked.count) / took, quantile(sorted, 0.5), quantile(sorted, 0.99)}, nil
}

func clientGoSender(asked options) (sender, error) {
	client, err := clientOf(asked)
	if err != nil {
		return nil, err
	}
	set, err := kubernetes.NewForConfigAndClient(asked.config, client)
	if err != nil {
		return nil, err
	}
	pods := set.CoreV1().Pods("default")
	return func(ctx context.Context, pod *corev1.Pod) error {
		_, err := pods.Create(ctx, pod, metav1.CreateOptions{})
		return err
	}, nil
}
