package controllerruntime

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	authzv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/kube"
)

// TestApply: a real API server takes the base and the overlay, and has no unknown field in them.
func TestApply(t *testing.T) {
	c := aCluster(t)
	for _, folder := range []string{"base", "overlays/guard"} {
		outcome := c.apply(t, folder, true, nil)
		for name, err := range outcome {
			if err != nil {
				t.Errorf("%s: %s: %v", folder, name, err)
			}
		}
		t.Logf("%s: the server takes %d objects", folder, len(outcome))
	}
	spoilt := c.apply(t, "base", true, func(o *unstructured.Unstructured) { o.Object["spce"] = map[string]any{} })
	for name, err := range spoilt {
		if err == nil || !strings.Contains(err.Error(), "spce") {
			t.Errorf("an unknown field of %s was taken: %v", name, err)
		}
	}
}

// TestRights: the service account of the manifests may do what a leader does, and no more. Without
// them the leader is told which file has them, and it writes the slice once it has them.
func TestRights(t *testing.T) {
	c, nats := aCluster(t), natstest.Server(t, natstest.Listen)
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "scheduler"}}
	if _, err := c.CoreV1().ServiceAccounts(c.namespace).Create(t.Context(), account, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "pod-0"},
		Spec: corev1.PodSpec{
			Containers: []corev1.Container{{Name: "app", Image: "app"}}, ServiceAccountName: "scheduler",
		},
	}
	if _, err := c.CoreV1().Pods(c.namespace).Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	m := c.joins(t, nats, 0)
	var refused *kube.StatusError
	if err := <-m.faults; !errors.As(err, &refused) || refused.Status != http.StatusForbidden ||
		!strings.Contains(err.Error(), "rbac.yaml") {
		t.Errorf("without rights: %v", err)
	}
	c.applied(t)
	natstest.Eventually(t, "the slice names the leader", 30*time.Second, func() (bool, string) {
		s, err := c.slice(t)
		return err == nil && address(s) == m.address, fmt.Sprint(err)
	})
	label := func() string {
		pod, err := c.CoreV1().Pods(c.namespace).Get(t.Context(), "pod-0", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return pod.Labels["rolemanager/scheduler"]
	}
	natstest.Eventually(t, "the pod is labelled", 30*time.Second, func() (bool, string) { return label() == "leader", "" })
	m.stop()
	if l := label(); l != "" {
		t.Errorf("after the term the label is %q", l)
	}
	if s, err := c.slice(t); err != nil || address(s) != "" {
		t.Errorf("after the term the slice names %q, %v", address(s), err)
	}
	for what, allowed := range map[authzv1.ResourceAttributes]bool{
		{Verb: "create", Group: "discovery.k8s.io", Resource: "endpointslices"}:                           true,
		{Verb: "get", Group: "discovery.k8s.io", Resource: "endpointslices", Name: "scheduler-leader"}:    true,
		{Verb: "update", Group: "discovery.k8s.io", Resource: "endpointslices", Name: "scheduler-leader"}: true,
		{Verb: "patch", Resource: "pods", Name: "pod-0"}:                                                  true,
		{Verb: "update", Group: "discovery.k8s.io", Resource: "endpointslices", Name: "another"}:          false,
		{Verb: "delete", Group: "discovery.k8s.io", Resource: "endpointslices", Name: "scheduler-leader"}: false,
		{Verb: "list", Group: "discovery.k8s.io", Resource: "endpointslices"}:                             false,
		{Verb: "delete", Resource: "pods", Name: "pod-0"}:                                                 false,
		{Verb: "get", Resource: "secrets"}:                                                                false,
	} {
		what.Namespace = c.namespace
		review := &authzv1.SubjectAccessReview{Spec: authzv1.SubjectAccessReviewSpec{
			User: "system:serviceaccount:" + c.namespace + ":scheduler", ResourceAttributes: &what,
		}}
		review, err := c.AuthorizationV1().SubjectAccessReviews().Create(t.Context(), review, metav1.CreateOptions{})
		if err != nil || review.Status.Allowed != allowed {
			t.Errorf("may it %s %s %q: %+v, %v", what.Verb, what.Resource, what.Name, review.Status, err)
		}
	}
}
