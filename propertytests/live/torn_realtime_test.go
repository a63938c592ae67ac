//go:build realtime

package live_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/fencing"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/propertytests/live/elections"
)

// guardedResource is something that leaders use, behind a guard.
type guardedResource struct {
	guard    *fencing.Guard
	mu       sync.Mutex
	admitted map[uint64]string // the holder of each epoch
	refused  map[string]error  // by holder and epoch, the last
}

func newResource() *guardedResource {
	return &guardedResource{
		guard: fencing.NewGuard(fencing.Token{}), admitted: map[uint64]string{},
		refused: map[string]error{},
	}
}

// use is work that shows its token all the time.
func (r *guardedResource) use(ctx context.Context, term *election.Term) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		token := term.Token()
		err := r.guard.Admit(token)
		r.mu.Lock()
		if err == nil {
			r.admitted[token.Epoch] = token.Holder
		} else {
			r.refused[fmt.Sprint(token.Holder, " ", token.Epoch)] = err
		}
		r.mu.Unlock()
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// uses reports whether a holder was admitted with a later epoch.
func (r *guardedResource) uses(holder string, after uint64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for epoch, by := range r.admitted {
		if by == holder && epoch > after {
			return true
		}
	}
	return false
}

func (r *guardedResource) refusals() map[string]error {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := map[string]error{}
	for who, err := range r.refused {
		all[who] = err
	}
	return all
}

// onProcess runs an arena on a server with file storage that is a process of its own.
func onProcess(t *testing.T, syncAlways bool) (*elections.Arena, *natsrun.Process, *guardedResource,
	func(name string) *elections.Process,
) {
	t.Helper()
	server := natstest.Process(t, func(o *natsrun.Options) { o.SyncAlways = syncAlways })
	a, r := elections.New(t, server, jetstream.FileStorage), newResource()
	return a, server, r, func(name string) *elections.Process {
		return a.Join(plan(name, func(p *elections.Plan) {
			p.Session = election.SessionConfig{TTL: 3 * time.Second}
			p.Work.Do = r.use
		}))
	}
}

// lastBlock is the file that the server writes a stream's messages to, and what is in it.
func lastBlock(t *testing.T, s *natsrun.Process) (path string, data []byte) {
	t.Helper()
	blocks, err := filepath.Glob(filepath.Join(s.StoreDir(), "jetstream", "*", "streams", stream, "msgs", "*.blk"))
	if err != nil || len(blocks) != 1 {
		t.Fatalf("blocks of %s in %s: %v, %v; one was expected of a stream as small as this", stream, s.StoreDir(),
			blocks, err)
	}
	if data, err = os.ReadFile(blocks[0]); err != nil {
		t.Fatal(err)
	}
	return blocks[0], data
}

// TestRealtimeTornTail: the server is killed the moment in which a resource has seen the newest
// epoch, and the end of its file is torn: half of a record that was never acknowledged, or garbage.
// Every acknowledged record is there: no epoch goes back, the resource refuses no leader, and no
// two lead.
func TestRealtimeTornTail(t *testing.T) {
	a, server, r, join := onProcess(t, true)
	leader := join("p0")
	a.AwaitLead(leader, role, patience)
	n := cycles(t)
	for round := range 4 * n {
		next := join(fmt.Sprint("p", round+1))
		if err := next.Opened(); err != nil {
			t.Fatal(err)
		}
		seen := r.guard.High().Epoch
		_ = leader.Leave() // gives the role away, as far as it can
		natstest.Eventually(t, "the resource has seen a new leader", patience, func() (bool, string) {
			return r.uses(next.Name, seen), fmt.Sprintf("%v, refused %v", r.guard.High(), r.refusals())
		})
		if err := server.Kill(); err != nil {
			t.Fatal(err)
		}
		path, data := lastBlock(t, server)
		tail := data[:60] // a record begins with its length: this is the first part of one
		if round%2 == 1 {
			tail = []byte(strings.Repeat("torn", 20))
		}
		if err := os.WriteFile(path, append(data, tail...), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := server.Restart(); err != nil {
			t.Fatal(err)
		}
		leader = next
		a.AwaitLead(leader, role, patience)
	}
	if refused := r.refusals(); len(refused) > 0 {
		t.Errorf("the resource has refused a leader: %v", refused)
	}
	t.Logf("%d terms, %d sessions lost", len(holds(a, 1+4*n)), a.Tally.Count("SessionLost"))
	a.Check()
	var all counts
	all.of(a)
	all.add(4*n, "servers killed")
	all.add(len(r.refusals()), "leaders refused")
	played(t, n, "four kills of the server with the end of its file torn", all)
}

// TestRealtimeLostTail: without sync_interval: always a machine that loses its power loses what it
// has acknowledged last, here the newest term. The same revisions are given again then, so that
// epochs repeat (E2 is not promised): a leader with such an epoch writes nothing to the resource
// under an epoch that it has seen of another holder. A process that has seen a lost record ends and
// says so. The revisions of a recreated bucket are above all of the old one.
func TestRealtimeLostTail(t *testing.T) {
	playEach(t, "a killed server whose file has lost the newest term, and a recreated bucket", loseTail)
}

func loseTail(t *testing.T, _ int, all *counts) {
	a, server, r, join := onProcess(t, false)
	first := join("first")
	a.AwaitLead(first, role, patience)
	second := join("second")
	if err := second.Opened(); err != nil {
		t.Fatal(err)
	}
	_, kept := lastBlock(t, server)
	for n := range 200 { // so many revisions that will be given again
		put(a, fmt.Sprint("probe.", n), "")
	}
	_ = first.Leave()
	natstest.Eventually(t, "the resource has seen the second leader", patience, func() (bool, string) {
		return r.uses(second.Name, 0), fmt.Sprint(r.guard.High())
	})
	a.Check()
	seen := r.guard.High()
	if err := server.Kill(); err != nil {
		t.Fatal(err)
	}
	path, data := lastBlock(t, server)
	if err := os.Truncate(path, int64(len(kept))); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d of %d bytes are lost, and with them epoch %d", len(data)-len(kept), len(data), seen.Epoch)
	a.Await("belief has ended", role, patience, func() bool { return a.Leader(role) == nil }) // a machine boots for longer
	if err := server.Restart(); err != nil {
		t.Fatal(err)
	}

	natstest.Eventually(t, "a session that has seen a lost record ends", patience, func() (bool, string) {
		err := second.Session.Err()
		return errors.Is(err, election.ErrStoreRegressed), fmt.Sprint(err)
	})
	third := join("third")
	a.AwaitLead(third, role, patience)
	natstest.Eventually(t, "the resource refuses the third leader", patience, func() (bool, string) {
		refused := r.refusals()
		for who, err := range refused {
			if strings.HasPrefix(who, third.Name+" ") {
				return errors.Is(err, fencing.ErrStale) || errors.Is(err, fencing.ErrConflict), err.Error()
			}
		}
		return false, fmt.Sprint("admitted: ", r.guard.High())
	})
	t.Logf("the third leader was refused: %v", r.refusals())
	for _, v := range a.Ledger.Sweep() {
		if !strings.HasPrefix(v.Error(), "E2") {
			t.Error(v)
		}
	}

	_ = third.Leave()
	natstest.Eventually(t, "the operator is connected again", patience, func() (bool, string) {
		return a.Operator().IsConnected(), a.Operator().Status().String()
	})
	if err := jetStream(a).DeleteStream(t.Context(), stream); err != nil {
		t.Fatal(err)
	}
	if _, err := natskv.Create(t.Context(), a.Operator(), natskv.Config{Bucket: elections.Bucket}); err != nil {
		t.Fatal(err)
	}
	fourth := join("fourth")
	a.AwaitLead(fourth, role, patience)
	natstest.Eventually(t, "the resource admits the leader from the new bucket", patience, func() (bool, string) {
		return r.uses(fourth.Name, seen.Epoch), fmt.Sprintf("%v, refused %v", r.guard.High(), r.refusals())
	})
	all.add(len(holds(a, 4)), "terms")
	all.add(1, "servers killed")
	all.add(len(r.refusals()), "leaders refused that had an epoch again")
	all.add(a.Tally.Count("SessionLost"), "sessions lost")
}
