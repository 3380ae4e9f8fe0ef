package envtest

import (
	"context"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

func contains(list []string, item string) bool { return slices.Contains(list, item) }

func whoIs(t *testing.T, clients *kubernetes.Clientset) authenticationv1.UserInfo {
	t.Helper()
	review := must(clients.AuthenticationV1().SelfSubjectReviews().Create(
		bounded(t), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{}))(t)
	return review.Status.UserInfo
}

func listPods(t *testing.T, clients *kubernetes.Clientset) error {
	_, err := clients.CoreV1().Pods("default").List(bounded(t), metav1.ListOptions{})
	return err
}

func TestUsersAreWhoTheirCertificatesSay(t *testing.T) {
	environment := &envtest.Environment{}
	admin := must(kubernetes.NewForConfig(begin(t, environment)))(t)
	user := must(environment.AddUser(envtest.User{Name: "ann", Groups: []string{"dev"}}, nil))(t)
	ann := must(kubernetes.NewForConfig(user.Config()))(t)
	who := whoIs(t, ann)
	if who.Username != "ann" || !contains(who.Groups, "dev") || !contains(who.Groups, "system:authenticated") {
		t.Fatalf("the certificate is that of %v", who)
	}
	if err := listPods(t, ann); !apierrors.IsForbidden(err) {
		t.Fatalf("without a role it is %v", err)
	}
	must(admin.RbacV1().Roles("default").Create(bounded(t), &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Name: "dev"},
		Rules:      []rbacv1.PolicyRule{{Verbs: []string{"list"}, APIGroups: []string{""}, Resources: []string{"pods"}}},
	}, metav1.CreateOptions{}))(t)
	must(admin.RbacV1().RoleBindings("default").Create(bounded(t), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "dev"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "dev"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "Group", Name: "dev"}},
	}, metav1.CreateOptions{}))(t)
	// The server's own caches learn of roles a moment after they are made.
	check(t, wait.PollUntilContextCancel(bounded(t), 20*time.Millisecond, true, func(context.Context) (bool, error) {
		err := listPods(t, ann)
		if apierrors.IsForbidden(err) {
			return false, nil
		}
		return err == nil, err
	}))
}

func TestKubectlOfAUser(t *testing.T) {
	environment := &envtest.Environment{}
	begin(t, environment)
	user := must(environment.AddUser(envtest.User{Name: "admin", Groups: []string{"system:masters"}}, nil))(t)
	kubectl := must(user.Kubectl())(t)
	said, complained, err := kubectl.Run("create", "configmap", "by-kubectl", "--from-literal=a=b")
	if err != nil {
		text, _ := io.ReadAll(complained)
		t.Fatalf("%v: %s", err, text)
	}
	if text := string(must(io.ReadAll(said))(t)); !strings.Contains(text, "configmap/by-kubectl created") {
		t.Fatalf("it says %s", text)
	}
}

func TestStrangers(t *testing.T) {
	environment := &envtest.Environment{}
	config := begin(t, environment)
	nobody := must(kubernetes.NewForConfig(rest.AnonymousClientConfig(config)))(t)
	if err := listPods(t, nobody); !apierrors.IsForbidden(err) {
		t.Fatalf("without credentials it is %v", err)
	}
	wrong := rest.AnonymousClientConfig(config)
	wrong.BearerToken = "wrong"
	if err := listPods(t, must(kubernetes.NewForConfig(wrong))(t)); !apierrors.IsUnauthorized(err) {
		t.Fatalf("with a wrong token it is %v", err)
	}
}

func TestTokensOfAccounts(t *testing.T) {
	environment := &envtest.Environment{}
	config := begin(t, environment)
	admin := must(kubernetes.NewForConfig(config))(t)
	must(admin.CoreV1().ServiceAccounts("default").Create(bounded(t),
		&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "robot"}}, metav1.CreateOptions{}))(t)
	request := must(admin.CoreV1().ServiceAccounts("default").CreateToken(bounded(t), "robot",
		&authenticationv1.TokenRequest{}, metav1.CreateOptions{}))(t)
	issuer := environment.ControlPlane.APIServer.SecureServing.URL("https", "/").String()
	if !slices.Equal(request.Spec.Audiences, []string{issuer}) {
		t.Fatalf("it is for %v", request.Spec.Audiences)
	}
	const robot = "system:serviceaccount:default:robot"
	shown := rest.AnonymousClientConfig(config)
	shown.BearerToken = request.Status.Token
	if who := whoIs(t, must(kubernetes.NewForConfig(shown))(t)); who.Username != robot {
		t.Fatalf("the token is that of %v", who)
	}
	review := must(admin.AuthenticationV1().TokenReviews().Create(bounded(t), &authenticationv1.TokenReview{
		Spec: authenticationv1.TokenReviewSpec{Token: request.Status.Token, Audiences: []string{issuer}}}, metav1.CreateOptions{}))(t)
	if !review.Status.Authenticated || review.Status.User.Username != robot {
		t.Fatalf("the review says %v", review.Status)
	}
	for _, path := range []string{"/.well-known/openid-configuration", "/openid/v1/jwks"} {
		text := string(must(admin.RESTClient().Get().AbsPath(path).DoRaw(bounded(t)))(t))
		if wanted := map[bool]string{true: `"issuer":"` + issuer + `"`, false: `"keys":[{`}[path[1] == '.']; !strings.Contains(text, wanted) {
			t.Fatalf("%s says %s", path, text)
		}
	}
}
