package tasks

import (
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/propertytests/live/elections"
	"github.com/rolemanager/rolemanager/propertytests/live/storm"
)

// Role is the role whose leader is the scheduler.
const Role = "scheduler"

// Config is one set of tasks: several can follow each other on one server.
type Config struct {
	Name    string // of the bucket and of the namespace
	TTL     time.Duration
	Storage jetstream.StorageType
}

// Arena is one set of tasks, the processes that take part, and what watches them.
type Arena struct {
	Config
	storm.Trace

	TB        testing.TB
	Network   elections.Network
	Server    *natsrun.Server // nil on a cluster, and when it runs in another process
	Ledger    *Ledger
	RecordLog *RecordLog
	Tally     *elections.Tally
	// Client submits along Path, which can be broken as any other; Operator cannot.
	Client, Operator *assign.Client
	Path             *natsrun.Link
	// Restarts says that the server was restarted: a record that was replaced meanwhile may not have
	// been seen.
	Restarts bool

	replicas  int
	stepping  bool // the server's wall clock does not measure anything
	conns     []*nats.Conn
	mu        sync.Mutex
	processes []*Process
}

// New makes bucket and stream, with a replica on each server. Close ends all that it starts.
func New(tb testing.TB, n elections.Network, cfg Config) *Arena {
	tb.Helper()
	a := &Arena{
		Config: cfg, Trace: storm.Trace{Began: time.Now()}, TB: tb, Network: n, Ledger: newLedger(),
		Tally: elections.NewTally(), Path: n.Link(), replicas: elections.Replicas(n),
	}
	a.Server, _ = n.(*natsrun.Server)
	switch n.(type) {
	case *natsrun.Process, *natsrun.ProcessCluster:
		a.stepping = true
	}
	patient := storm.Patient
	if a.Server != nil {
		patient = storm.Unbroken
	}
	operator := a.connect(patient("operator", a.TTL))
	bucket := natskv.Config{Bucket: cfg.Name, Storage: cfg.Storage, Replicas: a.replicas}
	if _, err := natskv.Create(tb.Context(), operator, bucket); err != nil {
		tb.Fatal(err)
	}
	a.Operator = a.client(operator)
	// the stream is there from now on
	if _, err := assign.ListRecurrences(tb.Context(), a.Operator, assign.RecurrenceListOptions{}); err != nil {
		tb.Fatal(err)
	}
	a.Client = a.client(a.connect(storm.Patient("client", a.TTL), a.Path.Options()...))
	a.RecordLog = newRecordLog(a, operator)
	return a
}

func (a *Arena) connect(patient []nats.Option, opts ...nats.Option) *nats.Conn {
	a.TB.Helper()
	nc, err := a.Network.Connect(append(patient, opts...)...)
	if err != nil {
		a.TB.Fatal(err)
	}
	a.conns = append(a.conns, nc)
	return nc
}

func (a *Arena) client(nc *nats.Conn) *assign.Client {
	a.TB.Helper()
	c, err := assign.NewClient(nc, assign.ClientConfig{
		Namespace: a.Name, StreamAutoCreate: true, Storage: a.Storage, Replicas: a.replicas,
	})
	if err != nil {
		a.TB.Fatal(err)
	}
	return c
}

// virtual reports whether this is a bubble, which begins in 2000: there what happens in one moment
// can be told from what does not. Outside, goroutines run when they come to it.
func (a *Arena) virtual() bool { return a.Began.Before(time.Date(2010, 1, 1, 0, 0, 0, 0, time.UTC)) }

// Close ends everything. Call it before the server is shut down.
func (a *Arena) Close() {
	a.Path.Heal()
	for _, p := range a.Processes() {
		p.Abandon()
	}
	natstest.Settle(a.TB) // an attempt that has begun has come to its handler
	a.Ledger.wait()
	a.RecordLog.close()
	a.Client.Close()
	a.Operator.Close()
	for _, nc := range a.conns {
		nc.Close()
	}
}

// Processes are all that ever joined.
func (a *Arena) Processes() []*Process {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]*Process(nil), a.processes...)
}

// Alive are those that take part.
func (a *Arena) Alive() (alive []*Process) {
	for _, p := range a.Processes() {
		if p.Alive() {
			alive = append(alive, p)
		}
	}
	return alive
}

// Leader is the process that leads now, nil for none.
func (a *Arena) Leader() *Process {
	for _, p := range a.Alive() {
		if p.Election != nil && p.Election.IsLeader() {
			return p
		}
	}
	return nil
}
