package check

import (
	"bufio"
	"debug/elf"
	"encoding/json"
	"encoding/pem"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestImage runs what the Dockerfile puts into an image: its commands build static programs, and
// its entry point leads a role in a root that has nothing else, as a user without rights. The image
// itself is not built, since that takes docker.
func TestImage(t *testing.T) {
	text, err := os.ReadFile("../kubernetes/Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	file := strings.ReplaceAll(string(text), "\\\n", "")
	one := func(pattern string) string {
		t.Helper()
		m := regexp.MustCompile(`(?m)^` + pattern + `$`).FindStringSubmatch(file)
		if m == nil {
			t.Fatalf("the Dockerfile has no line %s", pattern)
		}
		return m[1]
	}
	root := t.TempDir()
	build := exec.Command("sh", "-c", strings.ReplaceAll(one(`RUN (CGO_ENABLED=0 .*)`), "/out/", root+"/"))
	build.Dir = "../.."
	build.Env = append(os.Environ(), "PROGRAM="+one(`ARG PROGRAM=(.*)`))
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, name := range strings.Fields(strings.ReplaceAll(one(`COPY --from=build (.*) /`), "/out/", root+"/")) {
		static(t, name)
	}
	var entry []string
	if err := json.Unmarshal([]byte(one(`ENTRYPOINT (.*)`)), &entry); err != nil {
		t.Fatal(err)
	}
	dev := exec.Command(filepath.Join(root, "rolectl"), "dev", "--port", "0", "--worker=false")
	url := starts(t, dev)("nats://")
	app := exec.Command(entry[0], entry[1:]...)
	app.Env = append(inPod(t, root), "NATS_URL="+url)
	app.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: 65532, Gid: 65532}}
	if os.Getuid() != 0 { // in a namespace, where it may change its root
		app.SysProcAttr = &syscall.SysProcAttr{
			Chroot: root, Cloneflags: syscall.CLONE_NEWUSER,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: 65532, HostID: os.Getuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: 65532, HostID: os.Getgid(), Size: 1}},
		}
	}
	says := starts(t, app)
	says("leading scheduler")
	if err := app.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	says("stopped leading scheduler")
	if err := app.Wait(); err != nil {
		t.Error(err)
	}
}

// inPod gives the program a service account, and the environment of a pod. The API server takes
// nothing, and the program leads nevertheless.
func inPod(t *testing.T, root string) (env []string) {
	t.Helper()
	api := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(api.Close)
	account := filepath.Join(root, "var", "run", "secrets", "kubernetes.io", "serviceaccount")
	if err := os.MkdirAll(account, 0o755); err != nil {
		t.Fatal(err)
	}
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: api.Certificate().Raw})
	for name, text := range map[string]string{"token": "t", "ca.crt": string(authority), "namespace": "prod"} {
		if err := os.WriteFile(filepath.Join(account, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	host, port, err := net.SplitHostPort(api.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return []string{
		"KUBERNETES_SERVICE_HOST=" + host, "KUBERNETES_SERVICE_PORT=" + port, "LISTEN=127.0.0.1:0",
		"POD_NAME=scheduler-0", "POD_IP=10.0.0.1",
	}
}

// static checks that a program needs no loader and no library.
func static(t *testing.T, name string) {
	t.Helper()
	f, err := elf.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			t.Errorf("%s needs a loader", filepath.Base(name))
		}
	}
}

// starts starts a process. The function that it returns waits for a line that has some words, and
// returns that.
func starts(t *testing.T, cmd *exec.Cmd) (says func(words string) string) {
	t.Helper()
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = in, in
	err = cmd.Start()
	_ = in.Close() // the process has it
	if errors.Is(err, os.ErrPermission) && os.Getuid() != 0 {
		t.Skip("NOT RUN: another root needs the rights of root, or of user namespaces: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	t.Cleanup(func() {
		if cmd.ProcessState == nil {
			_ = cmd.Process.Kill()
			_ = cmd.Wait() // it was killed
		}
		_ = out.Close()
	})
	return func(words string) string {
		t.Helper()
		late := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() }) // ends its lines
		defer late.Stop()
		for lines.Scan() {
			if strings.Contains(lines.Text(), words) {
				return lines.Text()
			}
		}
		t.Fatalf("%s does not say %q", cmd.Path, words)
		return ""
	}
}
