package controllerruntime

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	authv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/rolemanager/rolemanager/internal/natstest"
)

// ofImage is the command that makes the image, with the program in it.
var ofImage = regexp.MustCompile(`^docker build .*--build-arg PROGRAM=(\S+)`)

// TestGuide follows docs/guides/kubernetes.md: each command runs as it is there, on a real API
// server and a NATS cluster of three, except those whose blocks say what they need. In the end the
// leader Service has the slice of the pod that leads.
//
// No node runs here. After kubectl apply the test makes a pod from the template of the Deployment,
// and runs the program that the page builds an image of, in its name, with its service account, and
// asks for what the probes ask. So it sees what the API server takes and answers, and what a leader
// writes. It does not see that the image is built and pulled, that a node gives the program its
// environment, what the network policy lets through, and requests to the Service.
func TestGuide(t *testing.T) {
	c := aCluster(t)
	if _, err := exec.LookPath("kubectl"); err != nil {
		t.Skip("NOT RUN: ", err)
	}
	nats := natstest.Cluster(t)
	run := c.shell(t, "NATS_URL="+nats.URL(0))
	ran, slice, program := map[string]int{}, "", ""
	for _, next := range followed(t) {
		if next.marked {
			t.Logf("not run: %s", next.line)
			if m := ofImage.FindStringSubmatch(next.line); m != nil {
				program = m[1]
			}
			continue
		}
		out := run(strings.Replace(next.line, "nats://127.0.0.1:4222", nats.URL(0), 1))
		ran[strings.Fields(next.line)[0]]++
		switch {
		case strings.HasPrefix(next.line, "kubectl apply ") && ran["a pod"] == 0:
			ran["a pod"]++
			c.runPod(t, t.TempDir(), program, nats.URL(0))
		case strings.HasPrefix(next.line, "kubectl get endpointslice "):
			slice = out
			for _, want := range []string{
				"10.0.0.1", "name: pod-0", "kubernetes.io/service-name: scheduler-leader", "rolemanager/role: scheduler",
				"rolemanager/epoch: ", "rolemanager/bucket-id: ", "rolemanager/ttl-ms: ",
			} {
				if !strings.Contains(out, want) {
					t.Errorf("the slice has no %q:\n%s", want, out)
				}
			}
		case strings.HasPrefix(next.line, "rolectl bucket id "):
			if !strings.Contains(slice, "rolemanager/bucket-id: "+out) {
				t.Errorf("the slice is of another bucket than %s:\n%s", out, slice)
			}
		case strings.HasPrefix(next.line, "kubectl get pods"), next.line == "rolectl members":
			if !strings.Contains(out, "pod-0") {
				t.Errorf("%s:\n%s", next.line, out)
			}
		}
	}
	if ran["kubectl"] < 5 || ran["rolectl"] < 1 {
		t.Errorf("what has run: %v", ran)
	}
	if out := run("kubectl get service scheduler-leader -o jsonpath={.spec.selector}"); out != "" {
		t.Errorf("the Service selects %s itself", out)
	}
	guard := "kubectl get deployment scheduler -o jsonpath={.spec.template.spec.initContainers[*].name}"
	if out := run(guard); out != "guard" {
		t.Errorf("beside the app runs %q", out)
	}
}

// runPod does what the controllers and a node would do: it makes a pod of the Deployment, and runs
// the program of the image with what it finds there. Both are made in dir.
func (c *cluster) runPod(t *testing.T, dir, program, nats string) {
	t.Helper()
	d, err := c.AppsV1().Deployments(c.namespace).Get(t.Context(), "scheduler", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "pod-0", Labels: d.Spec.Template.Labels}, Spec: d.Spec.Template.Spec,
	}
	if _, err := c.CoreV1().Pods(c.namespace).Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	address := c.container(t, dir, program, nats)
	natstest.Eventually(t, "the slice names the leader, and the pod has its label", time.Minute, func() (bool, string) {
		s, err := c.slice(t)
		led, podErr := c.CoreV1().Pods(c.namespace).Get(t.Context(), "pod-0", metav1.GetOptions{})
		return err == nil && podErr == nil && s.Endpoints != nil && led.Labels["rolemanager/scheduler"] == "leader",
			fmt.Sprint(err, podErr)
	})
	probes := d.Spec.Template.Spec.Containers[0]
	for _, path := range []string{probes.LivenessProbe.HTTPGet.Path, probes.ReadinessProbe.HTTPGet.Path, "/work"} {
		r, err := http.Get("http://" + address + path)
		if err != nil {
			t.Fatal(err)
		}
		_ = r.Body.Close() // it was not read
		if r.StatusCode != http.StatusOK {
			t.Errorf("the leader answers %s with %s", path, r.Status)
		}
	}
	http.DefaultClient.CloseIdleConnections()
}

// container builds a program as the Dockerfile does, and runs it in a root that has nothing else
// but the service account of the pod. It listens at the address.
func (c *cluster) container(t *testing.T, dir, program, nats string) (address string) {
	t.Helper()
	build := exec.Command("go", "build", "-C", "../..", "-o", filepath.Join(dir, "app"), program)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	token, err := c.CoreV1().ServiceAccounts(c.namespace).
		CreateToken(t.Context(), "scheduler", &authv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ca, err := os.ReadFile(c.server.Config.CAFile)
	if err != nil {
		t.Fatal(err)
	}
	account := filepath.Join(dir, "var", "run", "secrets", "kubernetes.io", "serviceaccount")
	if err := os.MkdirAll(account, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"token": token.Status.Token, "ca.crt": string(ca), "namespace": c.namespace,
	} {
		if err := os.WriteFile(filepath.Join(account, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address = l.Addr().String()
	_ = l.Close() // the program listens there
	host, port, err := net.SplitHostPort(strings.TrimPrefix(c.server.Config.Host, "https://"))
	if err != nil {
		t.Fatal(err)
	}
	app := exec.Command("/app")
	app.Env = []string{
		"KUBERNETES_SERVICE_HOST=" + host, "KUBERNETES_SERVICE_PORT=" + port, "NATS_URL=" + nats, "LISTEN=" + address,
		"POD_NAME=pod-0", "POD_IP=10.0.0.1", "NODE_NAME=node-0",
	}
	app.SysProcAttr = &syscall.SysProcAttr{Chroot: dir}
	if os.Getuid() != 0 { // in a namespace, where it may change its root
		app.SysProcAttr.Cloneflags = syscall.CLONE_NEWUSER
		app.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 65532, HostID: os.Getuid(), Size: 1}}
		app.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 65532, HostID: os.Getgid(), Size: 1}}
	}
	var said bytes.Buffer
	app.Stdout, app.Stderr = &said, &said
	if err := app.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // what a node does to end a pod
		_ = app.Process.Signal(syscall.SIGTERM) // Wait says if it has ended
		if err := app.Wait(); err != nil {
			t.Errorf("the program of the pod: %v\n%s", err, said.String())
		}
		s, err := c.DiscoveryV1().EndpointSlices(c.namespace).
			Get(context.Background(), "scheduler-leader", metav1.GetOptions{})
		if err != nil || len(s.Endpoints) > 0 {
			t.Errorf("the pod has ended, and the slice names %v, %v", s.Endpoints, err)
		}
	})
	return address
}

const kubeconfig = `
apiVersion: v1
kind: Config
clusters:
  - {name: test, cluster: {server: %q, certificate-authority: %q}}
users:
  - {name: test, user: {token: %q}}
contexts:
  - {name: test, context: {cluster: test, user: test, namespace: %q}}
current-context: test
`

// shell runs commands in the root of the repository, with kubectl in the namespace of the cluster,
// and a rolectl that is built of it.
func (c *cluster) shell(t *testing.T, more ...string) func(line string) (out string) {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	build := exec.Command("go", "build", "-C", root, "-o", dir+string(filepath.Separator), "./cmd/rolectl")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	file := filepath.Join(dir, "kubeconfig")
	if err := os.WriteFile(file, fmt.Appendf(nil, kubeconfig,
		c.server.Config.Host, c.server.Config.CAFile, c.server.Config.BearerToken, c.namespace), 0o600); err != nil {
		t.Fatal(err)
	}
	env := append(slices.Concat(os.Environ(), more), "KUBECONFIG="+file,
		"PATH="+dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
	return func(line string) string {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, "sh", "-c", line)
		cmd.Dir, cmd.Env = root, env
		var errs strings.Builder
		cmd.Stderr = &errs
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v\n%s%s", line, err, out, errs.String())
		}
		t.Logf("$ %s\n%s%s", line, out, errs.String())
		return string(out)
	}
}
