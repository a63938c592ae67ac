package controllerruntime

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// TestManifests: kustomize builds the base and each overlay, and every object of them decodes
// strictly into the types of Kubernetes: no field is unknown or there twice.
func TestManifests(t *testing.T) {
	root := filepath.Join(deployed(t), "kubernetes")
	codecs := serializer.NewCodecFactory(scheme.Scheme, serializer.EnableStrict)
	dirs, err := filepath.Glob(filepath.Join(root, "overlays", "*"))
	if err != nil || len(dirs) == 0 {
		t.Fatalf("%d overlays, %v", len(dirs), err)
	}
	for _, dir := range append(dirs, filepath.Join(root, "base")) {
		built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir)
		if err != nil {
			t.Errorf("%s: %v", dir, err)
			continue
		}
		var kinds []string
		for _, r := range built.Resources() {
			text, err := r.AsYAML()
			if err != nil {
				t.Fatal(err)
			}
			object, kind, err := codecs.UniversalDeserializer().Decode(text, nil, nil)
			if err != nil {
				t.Errorf("%s: %s: %v", dir, r.CurId(), err)
				continue
			}
			kinds = append(kinds, kind.Kind)
			look(t, dir, object)
		}
		for _, kind := range []string{
			"Deployment", "NetworkPolicy", "PodDisruptionBudget", "Role", "RoleBinding", "Service", "ServiceAccount",
		} {
			if !slices.Contains(kinds, kind) {
				t.Errorf("%s has no %s: %v", dir, kind, kinds)
			}
		}
	}
}

// look is what must hold of an object beyond its types.
func look(t *testing.T, dir string, object runtime.Object) {
	t.Helper()
	switch o := object.(type) {
	case *corev1.Service:
		if len(o.Spec.Selector) > 0 {
			t.Errorf("%s: the leader Service has a selector, so Kubernetes writes slices of its own", dir)
		}
	case *appsv1.Deployment:
		pod := o.Spec.Template.Spec
		app := pod.Containers[0]
		if app.ReadinessProbe.HTTPGet.Path != "/readyz" || app.LivenessProbe.HTTPGet.Path != "/livez" {
			t.Errorf("%s: the probes are not those of the health handler", dir)
		}
		if *pod.TerminationGracePeriodSeconds <= 30 {
			t.Errorf("%s: the grace period is not above the time that a drain may take", dir)
		}
		var names []string
		for _, e := range app.Env {
			names = append(names, e.Name)
		}
		for _, name := range []string{"NATS_URL", "POD_NAME", "POD_IP", "NODE_NAME"} {
			if !slices.Contains(names, name) {
				t.Errorf("%s: the container has no %s: %v", dir, name, names)
			}
		}
	}
}

// deployed is the folder of what is deployed.
func deployed(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../../deploy")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); err != nil {
		t.Fatal(err)
	}
	return dir
}
