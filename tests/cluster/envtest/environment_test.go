// What suites do with envtest, asked of the etcd and the kube-apiserver in KUBEBUILDER_ASSETS, whichever they are.
package envtest

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
)

// Of one step; an event that comes later never comes.
const limit = 30 * time.Second

var widgets = schema.GroupVersionKind{Group: "suite.muster.dev", Version: "v1", Kind: "Widget"}

func TestMain(m *testing.M) {
	log.SetLogger(zap.New(zap.WriteTo(os.Stderr)))
	os.Exit(m.Run())
}

func bounded(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	t.Cleanup(cancel)
	return ctx
}

func must[T any](value T, err error) func(t *testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// The environment has begun, and is stopped at the end of the test.
func begin(t *testing.T, environment *envtest.Environment) *rest.Config {
	t.Helper()
	environment.ControlPlane.GetAPIServer().Err = os.Stderr
	config := must(environment.Start())(t)
	t.Cleanup(func() { check(t, environment.Stop()) })
	return config
}

func clientOf(t *testing.T, config *rest.Config) client.Client {
	t.Helper()
	return must(client.New(config, client.Options{}))(t)
}

func widget(name string, size int64) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(widgets)
	object.SetNamespace("default")
	object.SetName(name)
	check := unstructured.SetNestedField(object.Object, size, "spec", "size")
	if check != nil {
		panic(check)
	}
	return object
}

func configMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
}

func TestDefinitionsFromADirectory(t *testing.T) {
	config := begin(t, &envtest.Environment{CRDDirectoryPaths: []string{"definitions"}, ErrorIfCRDPathMissing: true})
	reader := clientOf(t, config)
	check(t, reader.Create(bounded(t), widget("one", 1)))
	if err := reader.Create(bounded(t), widget("none", 0)); !apierrors.IsInvalid(err) {
		t.Fatalf("a widget of size 0 is %v", err)
	}
	one := widget("one", 1)
	check(t, unstructured.SetNestedField(one.Object, "there", "status", "phase"))
	check(t, reader.Get(bounded(t), client.ObjectKeyFromObject(one), one))
}

func TestAPodNeedsNoAccount(t *testing.T) {
	config := begin(t, &envtest.Environment{})
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "pod"},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "none"}}}}
	check(t, clientOf(t, config).Create(bounded(t), pod))
	if len(pod.Spec.Volumes) != 0 {
		t.Fatalf("it was given %v", pod.Spec.Volumes)
	}
}

func TestAPodNeedsAnAccountIfTheSuiteWantsIt(t *testing.T) {
	environment := &envtest.Environment{}
	environment.ControlPlane.GetAPIServer().Configure().Set("disable-admission-plugins", "DefaultStorageClass")
	config := begin(t, environment)
	pod := func(name string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
			Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "none"}}}}
	}
	writer := clientOf(t, config)
	if err := writer.Create(bounded(t), pod("refused")); !apierrors.IsForbidden(err) ||
		!strings.Contains(err.Error(), `error looking up service account default/default: serviceaccount "default" not found`) {
		t.Fatalf("a pod without an account is %v", err)
	}
	check(t, writer.Create(bounded(t), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "default"}}))
	check(t, writer.Create(bounded(t), pod("accepted")))
}

func TestServicesHaveAddressesOfTheRange(t *testing.T) {
	config := begin(t, &envtest.Environment{})
	writer := clientOf(t, config)
	made := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "made"},
		Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}}
	check(t, writer.Create(bounded(t), made))
	if !strings.HasPrefix(made.Spec.ClusterIP, "10.0.0.") {
		t.Fatalf("it has %s", made.Spec.ClusterIP)
	}
	made = &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "elsewhere"},
		Spec: corev1.ServiceSpec{ClusterIP: "10.96.0.7", Ports: []corev1.ServicePort{{Port: 80}}}}
	if err := writer.Create(bounded(t), made); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "failed to allocate IP 10.96.0.7: the provided network does not match the current range") {
		t.Fatalf("an address out of the range is %v", err)
	}
}

func TestTwoAtOnceDontSeeEachOther(t *testing.T) {
	one, other := clientOf(t, begin(t, &envtest.Environment{})), clientOf(t, begin(t, &envtest.Environment{}))
	check(t, one.Create(bounded(t), configMap("of-one")))
	if err := other.Get(bounded(t), client.ObjectKeyFromObject(configMap("of-one")), configMap("")); !apierrors.IsNotFound(err) {
		t.Fatalf("the other one has it: %v", err)
	}
}

func TestAStoppedEnvironmentLeavesNothingAndCanStartAgain(t *testing.T) {
	environment := &envtest.Environment{}
	for range 2 {
		config := must(environment.Start())(t)
		check(t, clientOf(t, config).Create(bounded(t), configMap("here")))
		places := []string{environment.ControlPlane.APIServer.CertDir, environment.ControlPlane.Etcd.DataDir}
		children := childrenOf(t, os.Getpid())
		if len(children) != 2 {
			t.Fatalf("it runs as %v", children)
		}
		check(t, environment.Stop())
		for _, place := range places {
			if _, err := os.Stat(place); !os.IsNotExist(err) {
				t.Errorf("%s is left: %v", place, err)
			}
		}
		for _, child := range children {
			if _, err := os.Stat(filepath.Join("/proc", child)); !os.IsNotExist(err) {
				t.Errorf("process %s is left: %v", child, err)
			}
		}
	}
}

func TestAServerThatStartsAgainFindsItsObjects(t *testing.T) {
	environment := &envtest.Environment{}
	config := begin(t, environment)
	check(t, clientOf(t, config).Create(bounded(t), configMap("kept")))
	server := environment.ControlPlane.GetAPIServer()
	check(t, server.Stop())
	check(t, server.Start())
	admin := must(environment.AddUser(envtest.User{Name: "again", Groups: []string{"system:masters"}}, nil))(t)
	check(t, clientOf(t, admin.Config()).Get(bounded(t), client.ObjectKeyFromObject(configMap("kept")), configMap("")))
}

func TestArgumentsOfTheSuite(t *testing.T) {
	tokens := filepath.Join(t.TempDir(), "tokens")
	check(t, os.WriteFile(tokens, []byte("secret,ann,7,\"dev,system:masters\"\n"), 0o600))
	environment := &envtest.Environment{}
	environment.ControlPlane.GetAPIServer().Configure().
		Append("feature-gates", "AllAlpha=false").
		Append("runtime-config", "api/all=true").
		Append("disable-admission-plugins", "ResourceQuota").
		Set("token-auth-file", tokens).
		Set("service-cluster-ip-range", "10.3.0.0/16").
		Enable("profiling")
	config := begin(t, environment)
	config = rest.AnonymousClientConfig(config)
	config.BearerToken = "secret"
	who := whoIs(t, must(kubernetes.NewForConfig(config))(t))
	if who.Username != "ann" || who.UID != "7" || !contains(who.Groups, "dev") {
		t.Fatalf("the token is that of %v", who)
	}
}

func TestAnUnknownArgumentIsAnError(t *testing.T) {
	environment := &envtest.Environment{}
	// Between its attempts envtest forgets that it has made this itself.
	environment.ControlPlane.GetAPIServer().CertDir = t.TempDir()
	var said bytes.Buffer
	environment.ControlPlane.GetAPIServer().Err = &said
	environment.ControlPlane.GetAPIServer().Configure().Set("no-such-flag", "1")
	_, err := environment.Start()
	if err == nil {
		t.Error("it has started")
	}
	check(t, environment.Stop())
	if !strings.Contains(said.String(), "Error: unknown flag: --no-such-flag") {
		t.Fatalf("it says %s", said.String())
	}
}
