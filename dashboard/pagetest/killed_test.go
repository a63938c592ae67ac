package pagetest

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/event"
)

// asMember makes this program a member instead of running tests: its value is the address of the
// server, the instance, the TTL and the roles.
const asMember = "PAGE_MEMBER"

// beMember is the program of a member. It ends when the test ends, or is killed by it.
func beMember(of string) error {
	f := strings.Fields(of)
	ttl, err := time.ParseDuration(f[2])
	if err != nil {
		return err
	}
	nc, err := nats.Connect(f[0], nats.MaxReconnects(-1), nats.ReconnectWait(50*time.Millisecond))
	if err != nil {
		return err
	}
	session, err := newSession(f[1], ttl)
	if err != nil {
		return err
	}
	ctx := context.Background()
	for _, role := range f[3:] {
		e, err := session.Campaign(election.RoleConfig{Role: role, Lead: untilItEnds})
		if err != nil {
			return err
		}
		if err := e.Start(ctx); err != nil {
			return err
		}
	}
	if err := session.Open(ctx, nc); err != nil {
		return err
	}
	fmt.Println("open")
	_, _ = io.Copy(io.Discard, os.Stdin) // until the test ends
	return session.Close(ctx)
}

// outside is a member that is a process of its own.
type outside struct {
	cmd   *exec.Cmd
	stdin io.Closer
}

// process starts such a member, and waits until it takes part.
func (s *site) process(instance string, ttl time.Duration, roles ...string) *outside {
	s.t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), asMember+"="+
		strings.Join(append([]string{s.server.URL(), instance, ttl.String()}, roles...), " "))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	p := &outside{cmd, in}
	s.t.Cleanup(p.kill)
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "open\n" {
		s.t.Fatalf("%s says %q: %v", instance, line, err)
	}
	return p
}

// kill ends the process at once (SIGKILL). It writes nothing about its end.
func (p *outside) kill() {
	_ = p.cmd.Process.Kill() // it may have ended
	_ = p.stdin.Close()
	_ = p.cmd.Wait()
}

// sights notes in the browser when the row of a role has shown a term first, by its epoch.
const sights = `(window.sights = {}, new MutationObserver(() => {
  const row = document.getElementById("r:billing"), term = row && row.innerText.match(/epoch (\d+)/);
  if (term && !sights[term[1]]) sights[term[1]] = Date.now();
}).observe(document.body, { subtree: true, childList: true, characterData: true }), true)`

// TestKilledProcesses: the process that leads a role is killed, again and again. In the browser the
// cell of the role changes less than a second after the event that names the next leader. The time
// until that event is up to the TTL.
func TestKilledProcesses(t *testing.T) {
	const ttl, kills = 1300 * time.Millisecond, 4
	s := begin(t, nil)
	events := s.observer.Events(t.Context())
	all := map[string]*outside{}
	for i := range kills + 1 {
		name := fmt.Sprintf("shop-%d", i)
		all[name] = s.process(name, ttl, "billing")
	}
	// next waits for the event about a term after that epoch, led by a process that lives.
	next := func(after uint64) (at time.Time, leader string, epoch uint64) {
		t.Helper()
		for end := time.After(patience); ; {
			select {
			case e := <-events:
				if e, ok := e.(event.LeaderChanged); ok && e.Epoch > after && all[e.Leader] != nil {
					return e.Time, e.Leader, e.Epoch
				}
			case <-end:
				t.Fatal("nobody leads")
			}
		}
	}
	_, leader, epoch := next(0)
	b := launch(t, s.home)
	b.open(b.ctx, "/")
	b.until(b.ctx, "the page is live", `document.getElementById("link").dataset.state === "live"`)
	eval[bool](b, b.ctx, sights)
	var took []time.Duration
	for i := range kills {
		time.Sleep(time.Duration(i) * 600 * time.Millisecond) // another moment between two pictures each
		all[leader].kill()
		delete(all, leader)
		var at time.Time
		at, leader, epoch = next(epoch)
		b.until(b.ctx, "the cell names "+leader, fmt.Sprintf(`sights["%d"] > 0 &&
			document.getElementById("r:billing").cells[1].innerText.includes("%s")`, epoch, leader))
		seen := time.UnixMilli(int64(eval[float64](b, b.ctx, fmt.Sprintf(`sights["%d"]`, epoch))))
		took = append(took, seen.Sub(at))
	}
	t.Logf("from the event to the cell: %v", took)
	slices.Sort(took)
	if took[kills-2] >= time.Second || took[0] < -time.Millisecond { // one may meet a busy moment of the machine
		t.Errorf("the cell changed after %v", took)
	}
	var role struct {
		Terms []struct {
			Reason string
			Gap    float64 `json:"gap_seconds"`
		}
	}
	answer, err := http.Get(s.home + "/role.json?name=billing")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	if err := json.NewDecoder(answer.Body).Decode(&role); err != nil || len(role.Terms) <= kills {
		t.Fatalf("%+v, %v", role, err)
	}
	for i, term := range role.Terms[:kills] { // the newest first
		// Nobody is known to have led since the last sign of the one before.
		if before := role.Terms[i+1]; term.Gap <= 0 || term.Gap > patience.Seconds() || before.Reason == "" {
			t.Errorf("term %d begins %v s after one that has ended because %q", i, term.Gap, before.Reason)
		}
	}
	b.clean()
}
