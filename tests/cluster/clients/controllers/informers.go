package main

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

var configMaps = corev1.SchemeGroupVersion.WithResource("configmaps")

func typedInformer(ctx context.Context, config *rest.Config, namespace string) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(namespace))
	return follow(ctx, config, namespace, "typed", factory.Core().V1().ConfigMaps().Informer())
}

func dynamicInformer(ctx context.Context, config *rest.Config, namespace string) error {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	factory := dynamicinformer.NewFilteredDynamicSharedInformerFactory(client, 0, namespace, nil)
	return follow(ctx, config, namespace, "dynamic", factory.ForResource(configMaps).Informer())
}

func metadataInformer(ctx context.Context, config *rest.Config, namespace string) error {
	client, err := metadata.NewForConfig(config)
	if err != nil {
		return err
	}
	factory := metadatainformer.NewFilteredSharedInformerFactory(client, 0, namespace, nil)
	return follow(ctx, config, namespace, "metadata", factory.ForResource(configMaps).Informer())
}

// follow lets an informer see one object that was there before it, and one from its creation to its end.
func follow(ctx context.Context, config *rest.Config, namespace, prefix string, informer cache.SharedIndexInformer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	set, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	maps := set.CoreV1().ConfigMaps(namespace)
	before, after := prefix+"-before", prefix+"-after"
	configMap := func(name string) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"step": "1"}}}
	}
	if _, err := maps.Create(ctx, configMap(before), metav1.CreateOptions{}); err != nil {
		return err
	}

	seen := newSeen(before, after)
	if _, err := informer.AddEventHandler(seen.handler()); err != nil {
		return err
	}
	go informer.RunWithContext(ctx)
	if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		return fmt.Errorf("the informer did not sync: %w", ctx.Err())
	}
	made, err := maps.Create(ctx, configMap(after), metav1.CreateOptions{})
	if err != nil {
		return err
	}
	made.Labels["step"] = "2"
	if _, err := maps.Update(ctx, made, metav1.UpdateOptions{}); err != nil {
		return err
	}
	if err := maps.Delete(ctx, after, metav1.DeleteOptions{}); err != nil {
		return err
	}
	return seen.await(ctx, "add "+before+" 1", "add "+after+" 1", "update "+after+" 2", "delete "+after+" 2")
}

// seen is what an informer told about some objects, in order.
type seen struct {
	names  []string
	events chan string
}

func newSeen(names ...string) *seen { return &seen{names, make(chan string, 100)} }

func (s *seen) handler() cache.ResourceEventHandler {
	note := func(what string, object any) {
		if tombstone, ok := object.(cache.DeletedFinalStateUnknown); ok {
			object = tombstone.Obj
		}
		access, err := meta.Accessor(object)
		if err != nil {
			s.events <- fmt.Sprintf("%s of %T", what, object)
		} else if slices.Contains(s.names, access.GetName()) {
			s.events <- fmt.Sprintf("%s %s %s", what, access.GetName(), access.GetLabels()["step"])
		}
	}
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { note("add", object) },
		UpdateFunc: func(_, object any) { note("update", object) },
		DeleteFunc: func(object any) { note("delete", object) },
	}
}

func (s *seen) await(ctx context.Context, wanted ...string) error {
	for at, want := range wanted {
		select {
		case got := <-s.events:
			if got != want {
				return fmt.Errorf("event %d: %q was awaited, %q came", at, want, got)
			}
		case <-ctx.Done():
			return fmt.Errorf("%q never came: %w", want, ctx.Err())
		}
	}
	return nil
}
