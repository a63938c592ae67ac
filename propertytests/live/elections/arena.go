package elections

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/internal/bridge"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/propertytests/live/storm"
)

// Bucket is the bucket of every arena.
const Bucket = "roles"

// operatorInbox tells the operator's own watches from those of the processes.
const operatorInbox = "_INBOX_operator"

// Network is what an arena stands on: a natsrun.Server, Process, Cluster or ProcessCluster.
type Network interface {
	Connect(opts ...nats.Option) (*nats.Conn, error)
	Link() *natsrun.Link
}

// Replicas are how many a bucket or a stream there has: one on each server.
func Replicas(n Network) int {
	if cluster, many := n.(interface{ Size() int }); many {
		return cluster.Size()
	}
	return 1
}

// Arena is one bucket, the processes that take part in it, and what watches them.
type Arena struct {
	storm.Trace

	TB        testing.TB
	Network   Network
	Server    *natsrun.Server // nil on a cluster, and when it runs in another process
	Ledger    *Ledger
	RecordLog *RecordLog
	Tally     *Tally

	// Expect are faults that may end sessions without that being a violation: the test brings them
	// about.
	Expect []error

	operator *nats.Conn // on a path without faults

	mu         sync.Mutex
	processes  []*Process
	leaderless time.Duration // the longest time from calm until every role was led
}

// New makes the bucket, with a replica on each server. Everything that the arena starts has ended
// when the test has.
func New(tb testing.TB, n Network, storage jetstream.StorageType) *Arena {
	tb.Helper()
	a := &Arena{Trace: storm.Trace{Began: time.Now()}, TB: tb, Network: n, Tally: NewTally()}
	a.Ledger = NewLedger(a.Began.After(time.Date(2010, 1, 1, 0, 0, 0, 0, time.UTC))) // a bubble begins in 2000
	a.Server, _ = n.(*natsrun.Server)
	bucket := natskv.Config{Bucket: Bucket, Storage: storage, Replicas: Replicas(n)}
	patient := storm.Patient
	if a.Server != nil {
		patient = storm.Unbroken
	}
	var err error
	if a.operator, err = n.Connect(append(patient("operator", 10*time.Second),
		nats.CustomInboxPrefix(operatorInbox))...); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(a.operator.Close)
	if _, err := natskv.Create(tb.Context(), a.operator, bucket); err != nil {
		tb.Fatal(err)
	}
	a.RecordLog = newRecordLog(a, storage)
	tb.Cleanup(a.close)
	return a
}

func (a *Arena) close() {
	a.RecordLog.close()
	for _, p := range a.Processes() {
		p.Abandon()
	}
}

// Operator is a connection without faults.
func (a *Arena) Operator() *nats.Conn { return a.operator }

// Processes are all that ever joined.
func (a *Arena) Processes() []*Process {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]*Process(nil), a.processes...)
}

// Alive are those that take part: not crashed, not left, not ended by a fault.
func (a *Arena) Alive() (alive []*Process) {
	for _, p := range a.Processes() {
		if p.Alive() {
			alive = append(alive, p)
		}
	}
	return alive
}

// KV is the bucket as any tool sees it.
func (a *Arena) KV() (jetstream.KeyValue, error) {
	js, err := jetstream.New(a.operator)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(a.TB.Context(), 5*time.Second)
	defer cancel()
	return js.KeyValue(ctx, Bucket)
}

// Check reports every violation so far as errors of the test, with what led to them.
func (a *Arena) Check() {
	a.TB.Helper()
	violations := append(a.Ledger.Sweep(), a.RecordLog.Violations()...)
	for _, p := range a.Processes() {
		if err := p.fatal(); err != nil && !a.expected(err) {
			violations = append(violations, fmt.Errorf("%s ended: %w", p, err))
		}
	}
	for i, v := range violations {
		if i == 5 {
			a.TB.Errorf("and %d more", len(violations)-i)
			break
		}
		a.TB.Error(v)
	}
	if len(violations) > 0 {
		a.TB.Logf("what led to it:%s", a.Lately())
	}
}

func (a *Arena) expected(err error) bool {
	return slices.ContainsFunc(a.Expect, func(kind error) bool { return errors.Is(err, kind) })
}

// Leader is the process that leads a role now, nil for none.
func (a *Arena) Leader(role string) *Process {
	for _, p := range a.Processes() {
		if e := p.Elections[role]; e != nil && e.IsLeader() {
			return p
		}
	}
	return nil
}

// AwaitLeader waits until a process leads the role, its work begun, and returns it.
func (a *Arena) AwaitLeader(role string, within time.Duration) (leader *Process) {
	a.TB.Helper()
	a.Await(role+" is led", role, within, func() bool {
		leader = a.Leader(role)
		return leader != nil && a.Ledger.working(leader.String(), role)
	})
	return leader
}

// AwaitLead waits until p leads the role and its work has begun: IsLeader is true a moment before,
// and the ledger is written by the work.
func (a *Arena) AwaitLead(p *Process, role string, within time.Duration) {
	a.TB.Helper()
	a.Await(fmt.Sprintf("%s leads %s", p, role), role, within, func() bool {
		return p.Leads(role) && a.Ledger.working(p.String(), role)
	})
}

// Await waits until cond holds, and ends the test with what everybody says about the role when it
// has not within that time. On the virtual clock it looks when everything has settled: who leads
// has begun, who has ended has written so down.
func (a *Arena) Await(what, role string, within time.Duration, cond func() bool) {
	a.TB.Helper()
	for began := time.Now(); ; {
		natstest.Settle(a.TB)
		if cond() {
			return
		}
		waited := time.Since(began)
		if waited > within {
			a.TB.Fatalf("not within %v: %s%s", within, what, a.state(role))
		}
		time.Sleep(natstest.Pause(waited, within))
	}
}

// state is what everybody alive says about a role.
func (a *Arena) state(role string) (lines string) {
	for _, p := range a.Alive() {
		e := p.Elections[role]
		if e == nil {
			continue
		}
		st := e.Status()
		lines += fmt.Sprintf("\n  %s: %v, sees %q, %s, session %d, connected %t", p, st.State, st.LeaderID, st.Reason,
			bridge.Number(p.Session), p.Conn.IsConnected())
	}
	return lines + "\nafter:" + a.Lately()
}
