package assign_test

import (
	"context"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/fencing"
	"github.com/rolemanager/rolemanager/internal/bridge"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/frame"
)

// hostOf is what a node's session offers to an assigner: its key above all.
func hostOf(t *testing.T, n *node) election.Host {
	t.Helper()
	got := make(chan election.Host, 1) // the first lease is enough
	err := n.session.Attach("test", func(ctx context.Context, h election.Host) error {
		select {
		case got <- h:
		default:
		}
		<-ctx.Done()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return <-got
}

// forger makes frames by hand, as the scheduler whose key it has got hold of would.
type forger struct {
	t      *testing.T
	nc     *nats.Conn
	sign   func([]byte) []byte
	epoch  uint64
	serial uint64 // of the assignments that it makes: above those of the scheduler
}

// newForger speaks in the name of the present leader.
func newForger(t *testing.T, s *natsrun.Server, leads *node) *forger {
	t.Helper()
	h := hostOf(t, leads)
	info, ok := h.Role(testRole)
	if !ok || info.Leader != leads.name {
		t.Fatalf("%s does not lead: %+v", leads.name, info)
	}
	return &forger{
		t: t, nc: natstest.Connect(t, s),
		sign: bridge.LeaseOf(h).(interface{ Signer() *fencing.Signer }).Signer().Sign, epoch: info.Epoch, serial: 1 << 40,
	}
}

// to is the envelope of a frame for a worker.
func (f *forger) to(w *node) frame.Envelope {
	return frame.Envelope{
		Namespace: testNS, Role: testRole, Epoch: f.epoch, Term: f.epoch, Instance: w.name, Session: bridge.Number(w.session),
		Number: 1 << 40,
	}
}

// task is an assignment that no scheduler has made.
func (f *forger) task(id, kind string) frame.Task {
	f.serial++
	input := []byte(`1`)
	if kind != "double" {
		input = []byte(`"forged"`)
	}
	return frame.Task{
		Assignment: tasks.Assignment{
			ID: id, Attempt: tasks.Attempt{Epoch: f.epoch, N: 1 << 20}, Serial: f.serial, Try: 1,
			Policy: &tasks.Policy{Kind: kind, Weight: 1},
		},
		Payload: input,
	}
}

// assign is a signed frame.
func (f *forger) assign(v frame.Envelope, low uint64, list ...frame.Task) []byte {
	return frame.Seal(frame.EncodeAssign(&v, low, list), f.sign)
}

// push sends a frame to a worker and returns its answers, none when there is no answer.
func (f *forger) push(w *node, sealed []byte) []tasks.Answer { return f.send("assign", w, sealed) }

func (f *forger) send(verb string, w *node, sealed []byte) []tasks.Answer {
	f.t.Helper()
	subject := saidIn(f.t, f.nc, bucketStream) + ".work." + verb + "." + w.name
	m, err := f.nc.Request(subject, sealed, 300*time.Millisecond) // virtual
	if err != nil {
		return nil
	}
	_, _, answers, _, err := frame.DecodeAnswers(m.Data)
	if err != nil {
		f.t.Errorf("answer %q: %v", m.Data, err)
	}
	return answers
}

// refused sends a frame that the worker must not even answer, and waits until it is counted under
// its reason.
func (f *forger) refused(w *node, reason string, sealed []byte) {
	f.t.Helper()
	before := w.count(isRejected(reason))
	if answers := f.push(w, sealed); len(answers) > 0 {
		f.t.Errorf("%s: answered %v", reason, answers)
	}
	natstest.Eventually(f.t, "a rejection counted as "+reason, 10*time.Second, func() (bool, string) {
		return w.count(isRejected(reason)) > before, w.dump()
	})
}

// accepted waits until a worker has taken a hand-made assignment: so that what is refused
// afterwards is refused for a reason.
func (f *forger) accepted(w *node, id, kind string) {
	f.t.Helper()
	natstest.Eventually(f.t, "a hand-made assignment is accepted", 10*time.Second, func() (bool, string) {
		answers := f.push(w, f.assign(f.to(w), 0, f.task(id, kind)))
		return len(answers) == 1 && answers[0].Verdict == tasks.Accepted, w.dump()
	})
}

// runs is how often a task was started.
func (l *tally) runs(id string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.of[id]
}

func (b *bench) runs(id string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.started[id])
}
