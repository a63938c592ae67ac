package controllerruntime

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

var (
	shell  = regexp.MustCompile("(?s)\n```sh\n(.*?)```\n")
	inText = regexp.MustCompile("`((?:kubectl|rolectl|helm|docker) [^`]+)`")
	// needs is the first line of a block that nothing here can run.
	needs = regexp.MustCompile(`^# needs \S+`)
	// foreign is a command that needs what is not here: a chart, a daemon, a node.
	foreign = regexp.MustCompile(`^(helm|docker) |^kubectl (-n \S+ )?(port-forward|logs|exec|rollout) `)
)

// command is one of the page.
type command struct {
	line   string
	marked bool // its block says what it needs
}

// followed are the commands of docs/guides/kubernetes.md: those of its blocks, in the order of the
// page, and then those of its text.
func followed(t *testing.T) (all []command) {
	t.Helper()
	text, err := os.ReadFile("../../docs/guides/kubernetes.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range shell.FindAllStringSubmatch(string(text), -1) {
		lines := strings.ReplaceAll(block[1], "\\\n", "")
		marked := needs.MatchString(lines)
		for line := range strings.Lines(lines) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
				all = append(all, command{line, marked})
			}
		}
	}
	for _, m := range inText.FindAllStringSubmatch(string(text), -1) {
		all = append(all, command{m[1], false})
	}
	return all
}

// TestGuideSaysWhatItNeeds: a block of the guide that says what it needs holds nothing that could
// run without that, and no other block needs it. TestGuide runs all others.
func TestGuideSaysWhatItNeeds(t *testing.T) {
	all := followed(t)
	if len(all) < 5 {
		t.Fatalf("only %d commands on the page", len(all))
	}
	for _, c := range all {
		if c.marked != foreign.MatchString(c.line) {
			t.Errorf("its block says that it needs something: %t; is that so?\n%s", c.marked, c.line)
		}
	}
}

// TestGuide follows docs/guides/kubernetes.md: each command runs as it is there, on a real API
// server and a NATS cluster of three, except those whose blocks say what they need. In the end the
// leader Service has the slice of the pod that leads.
//
// No node runs here. After kubectl apply the test makes a pod from the template of the Deployment,
// and runs a process in its name, with the rights of its service account. So it sees what the API
// server takes and answers, and what a leader may write. It does not see that images are pulled,
// that probes succeed, what the network policy lets through, and requests to the Service.
func TestGuide(t *testing.T) {
	c := aCluster(t)
	if _, err := exec.LookPath("kubectl"); err != nil {
		t.Skip("NOT RUN: ", err)
	}
	nats := natstest.Cluster(t)
	run := c.shell(t, "NATS_URL="+nats.URL(0))
	ran, slice := map[string]int{}, ""
	for _, next := range followed(t) {
		if next.marked {
			t.Logf("not run: %s", next.line)
			continue
		}
		out := run(strings.Replace(next.line, "nats://127.0.0.1:4222", nats.URL(0), 1))
		ran[strings.Fields(next.line)[0]]++
		switch {
		case strings.HasPrefix(next.line, "kubectl apply ") && ran["a pod"] == 0:
			ran["a pod"]++
			c.runPod(t, nats.Server(0))
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

// runPod does what the controllers and a node would do: it makes a pod of the Deployment, which
// leads.
func (c *cluster) runPod(t *testing.T, nats *natsrun.Server) {
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
	m := c.joins(t, nats, 0)
	natstest.Eventually(t, "the slice names the leader, and the pod has its label", time.Minute, func() (bool, string) {
		s, err := c.slice(t)
		led, podErr := c.CoreV1().Pods(c.namespace).Get(t.Context(), "pod-0", metav1.GetOptions{})
		return err == nil && podErr == nil && address(s) == m.address && led.Labels["rolemanager/scheduler"] == "leader",
			fmt.Sprint(err, podErr)
	})
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
