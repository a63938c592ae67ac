package controllerruntime

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"

	authv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/restmapper"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/kube"
	"github.com/rolemanager/rolemanager/kube/controllerruntime/internal/apiserver"
)

// theCluster is the API server of all tests of this binary.
var theCluster = sync.OnceValues(func() (*apiserver.Server, error) { return apiserver.Start(context.Background()) })

// stopCluster stops it, if a test has started it.
var stopCluster = func() {}

// cluster is one namespace of a real API server.
type cluster struct {
	*kubernetes.Clientset
	server    *apiserver.Server
	namespace string
}

// aCluster makes a namespace. Without the binaries the test is skipped.
func aCluster(t *testing.T) *cluster {
	t.Helper()
	if testing.Short() {
		t.Skip("starts an API server")
	}
	s, err := theCluster()
	if errors.Is(err, apiserver.ErrNoBinary) {
		t.Skip("NOT RUN: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	stopCluster = func() { _ = s.Stop() } // its files are temporary
	c, err := kubernetes.NewForConfig(s.Config)
	if err != nil {
		t.Fatal(err)
	}
	space := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	if space, err = c.CoreV1().Namespaces().Create(t.Context(), space, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	return &cluster{c, s, space.Name}
}

// apply applies what kustomize builds of a folder of deploy/kubernetes, as kubectl apply does, and
// has unknown fields refused. With dry the server checks it only. Errors are by name of the object.
func (c *cluster) apply(t *testing.T, folder string, dry bool, edit func(*unstructured.Unstructured)) map[string]error {
	t.Helper()
	dir := filepath.Join(deployed(t), "kubernetes", folder)
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		t.Fatal(err)
	}
	groups, err := restmapper.GetAPIGroupResources(c.Discovery())
	if err != nil {
		t.Fatal(err)
	}
	mapper := restmapper.NewDiscoveryRESTMapper(groups)
	client, err := dynamic.NewForConfig(c.server.Config)
	if err != nil {
		t.Fatal(err)
	}
	o := metav1.PatchOptions{FieldManager: "test", FieldValidation: metav1.FieldValidationStrict}
	if dry {
		o.DryRun = []string{metav1.DryRunAll}
	}
	outcome := map[string]error{}
	for _, r := range built.Resources() {
		fields, err := r.Map()
		if err != nil {
			t.Fatal(err)
		}
		object := &unstructured.Unstructured{Object: fields}
		if edit != nil {
			edit(object)
		}
		text, err := object.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		kind := object.GroupVersionKind()
		var where *meta.RESTMapping
		if where, err = mapper.RESTMapping(kind.GroupKind(), kind.Version); err == nil {
			_, err = client.Resource(where.Resource).Namespace(c.namespace).
				Patch(t.Context(), object.GetName(), types.ApplyPatchType, text, o)
		}
		outcome[kind.Kind+" "+object.GetName()] = err
	}
	return outcome
}

// applied applies the base.
func (c *cluster) applied(t *testing.T) {
	t.Helper()
	for name, err := range c.apply(t, "base", false, nil) {
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
}

// inPod is the client of a pod with the service account of the manifests. Its connections take the
// link.
func (c *cluster) inPod(t *testing.T, link *natsrun.Link) *kube.Client {
	t.Helper()
	r, err := c.CoreV1().ServiceAccounts(c.namespace).
		CreateToken(t.Context(), "scheduler", &authv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ca, err := os.ReadFile(c.server.Config.CAFile)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(ca)
	transport := &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12},
		DialContext: func(_ context.Context, network, address string) (net.Conn, error) {
			return link.Dial(network, address)
		},
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &kube.Client{
		Address: c.server.Config.Host, Namespace: c.namespace, HTTP: &http.Client{Transport: transport},
		Token: func() (string, error) { return r.Status.Token, nil },
	}
}
