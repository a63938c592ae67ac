package discovery

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/natstest"
)

// envConsul names a consul, such as that of Debian's package.
const envConsul = "ROLEMANAGER_CONSUL"

// agents is a real Consul: a server, which is node-1, and an agent without that role, node-2. They
// demand a token.
type agents struct {
	t      *testing.T
	binary string
	dir    string
	http   [2]string // addresses
	serf   [2]string // ports
	rpc    string    // port
	run    [2]*exec.Cmd
	master string // may do everything
}

// realConsul starts both. Without the binary the test is skipped.
func realConsul(t *testing.T) *agents {
	t.Helper()
	a := &agents{t: t, binary: os.Getenv(envConsul), dir: t.TempDir()}
	if a.binary == "" {
		t.Skip("NOT RUN: ", envConsul, " names no consul: extract one, such as that of Debian's package")
	}
	var listeners []net.Listener
	var ports []string // that are free, and will be in a moment
	for range 5 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		listeners = append(listeners, l)
		ports = append(ports, strconv.Itoa(l.Addr().(*net.TCPAddr).Port))
	}
	for _, l := range listeners {
		_ = l.Close()
	}
	a.http, a.serf, a.rpc = [2]string{"127.0.0.1:" + ports[0], "127.0.0.1:" + ports[1]}, [2]string(ports[2:4]), ports[4]
	t.Cleanup(func() { a.kill(1); a.kill(0) })
	a.start(0)
	a.start(1)
	var secret struct{ SecretID string }
	a.eventually("it has a leader", func() error { return a.call("", 0, http.MethodPut, "acl/bootstrap", nil, &secret) })
	a.master = secret.SecretID
	own := a.token(`node_prefix "" { policy = "write" } service_prefix "" { policy = "read" }`)
	for i := range a.http {
		a.must(i, http.MethodPut, "agent/token/agent", map[string]string{"Token": own})
	}
	a.eventually("both are members", func() error {
		var all []any
		if err := a.call(a.master, 1, http.MethodGet, "catalog/nodes", nil, &all); err != nil || len(all) == 2 {
			return err
		}
		return fmt.Errorf("%d nodes", len(all))
	})
	return a
}

// start starts an agent, with the data that it has left.
func (a *agents) start(i int) {
	a.t.Helper()
	_, port, err := net.SplitHostPort(a.http[i])
	if err != nil {
		a.t.Fatal(err)
	}
	args := []string{
		"agent", "-node", fmt.Sprint("node-", i+1), "-data-dir", filepath.Join(a.dir, strconv.Itoa(i)), "-bind", "127.0.0.1",
		"-http-port", port, "-serf-lan-port", a.serf[i], "-server-port", a.rpc, "-dns-port", "-1", "-grpc-port", "-1",
		"-serf-wan-port", "-1", "-disable-host-node-id", "-log-level", "warn",
		"-hcl", `acl { enabled = true default_policy = "deny" }`, "-hcl", `performance { raft_multiplier = 1 }`,
		"-hcl", "disable_update_check = true",
	}
	if i == 0 {
		args = append(args, "-server", "-bootstrap-expect", "1", "-hcl", "acl { enable_token_persistence = true }")
	} else {
		args = append(args, "-retry-join", "127.0.0.1:"+a.serf[0])
	}
	log, err := os.OpenFile(filepath.Join(a.dir, fmt.Sprint(i, ".log")), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		a.t.Fatal(err)
	}
	defer func() { _ = log.Close() }() // the process has it too
	cmd := exec.Command(a.binary, args...)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		a.t.Fatal(err)
	}
	a.run[i] = cmd
	a.eventually("an agent answers", func() error {
		if err := a.call(a.master, i, http.MethodGet, "status/leader", nil, nil); err != nil {
			text, _ := os.ReadFile(log.Name()) // as far as it can be read
			return fmt.Errorf("%w: %s", err, text[max(0, len(text)-1000):])
		}
		return nil
	})
}

// kill kills an agent, if it runs.
func (a *agents) kill(i int) {
	if cmd := a.run[i]; cmd != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
		a.run[i] = nil
	}
}

func (a *agents) eventually(what string, holds func() error) {
	a.t.Helper()
	natstest.Eventually(a.t, what, time.Minute, func() (bool, string) {
		err := holds()
		return err == nil, fmt.Sprint(err)
	})
}

// call asks an agent.
func (a *agents) call(token string, agent int, method, path string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	r, err := http.NewRequest(method, "http://"+a.http[agent]+"/v1/"+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("X-Consul-Token", token)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second) // also when a test is over
	defer cancel()
	answer, err := standard.Do(r.WithContext(ctx))
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %d %s", path, answer.StatusCode, text)
	}
	if err != nil || out == nil {
		return err
	}
	return json.Unmarshal(text, out)
}

// must asks an agent, as one who may do everything.
func (a *agents) must(agent int, method, path string, in any) {
	a.t.Helper()
	if err := a.call(a.master, agent, method, path, in, nil); err != nil {
		a.t.Fatal(err)
	}
}

// token is one that these rules give rights to.
func (a *agents) token(rules string) string {
	a.t.Helper()
	var policy struct{ ID string }
	name := fmt.Sprint("policy-", time.Now().UnixNano())
	a.eventually("a policy is made", func() error {
		return a.call(a.master, 0, http.MethodPut, "acl/policy", map[string]string{"Name": name, "Rules": rules}, &policy)
	})
	var token struct{ SecretID string }
	in := map[string]any{"Policies": []any{map[string]string{"ID": policy.ID}}}
	if err := a.call(a.master, 0, http.MethodPut, "acl/token", in, &token); err != nil {
		a.t.Fatal(err)
	}
	return token.SecretID
}

// instances are those of the service of leaders that pass their checks, as the server has them, and
// the index of that.
func (a *agents) instances(ctx context.Context, index uint64) (all []leader, next uint64, err error) {
	path := "/v1/health/service/scheduler?passing&consistent&wait=10s&index=" + strconv.FormatUint(index, 10)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+a.http[0]+path, nil)
	if err != nil {
		return nil, 0, err
	}
	r.Header.Set("X-Consul-Token", a.master)
	answer, err := standard.Do(r)
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, 0, err
	}
	if all, err = readLeaders(text); err != nil {
		return nil, 0, err
	}
	next, err = strconv.ParseUint(answer.Header.Get("X-Consul-Index"), 10, 64)
	return all, next, err
}

// record is what was announced, version after version.
type record struct {
	mu       sync.Mutex
	versions [][]leader
}

// watch records all versions until the test ends.
func (a *agents) watch() *record {
	a.t.Helper()
	w := &record{}
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan struct{})
	go func() {
		defer close(over)
		for index := uint64(1); ctx.Err() == nil; {
			all, next, err := a.instances(ctx, index)
			if err != nil {
				_ = pause(ctx, 10*time.Millisecond) // the agent is being restarted
				continue
			}
			index = next
			w.mu.Lock()
			w.versions = append(w.versions, all)
			w.mu.Unlock()
		}
	}()
	a.t.Cleanup(func() {
		cancel()
		<-over
	})
	return w
}

// faults counts versions that name two leaders, or an earlier one than a version before.
func (w *record) faults() (versions, two, earlier int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	highest := uint64(0)
	for _, all := range w.versions {
		if len(all) > 1 {
			two++
		}
		for _, l := range all {
			if l.epoch < highest {
				earlier++
			}
			highest = max(highest, l.epoch)
		}
	}
	return len(w.versions), two, earlier
}

// came reports whether an instance was announced.
func (w *record) came(id string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.ContainsFunc(w.versions, func(all []leader) bool {
		return slices.ContainsFunc(all, func(l leader) bool { return l.id == id })
	})
}

func (a *agents) announced() string {
	all, _, err := a.instances(a.t.Context(), 0)
	if err != nil || len(all) == 0 {
		return ""
	}
	return all[0].node
}
