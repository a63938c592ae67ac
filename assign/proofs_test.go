package assign_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/fencing"
	"github.com/rolemanager/rolemanager/internal/bridge"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/frame"
)

// runOne has one task run, and fails if it does not.
func runOne(t *testing.T, c *assign.Client, input int, nodes ...*node) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // virtual
	defer cancel()
	p, err := assign.Submit(ctx, c, double, input)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := p.Wait(ctx); out != 2*input || err != nil {
		for _, n := range nodes {
			t.Log(n.dump())
		}
		t.Fatalf("task %d: %d, %v", input, out, err)
	}
}

// TestOneSignatureForEachSession: the first assignment to a session is signed. The next ones are
// proven by the key that the scheduler and the worker then share. So are all of another scheduler,
// which has asked the worker what it holds. Another session begins with a signature again.
func TestOneSignatureForEachSession(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		a := newNode(t, s, "a", nil)
		leader(t, a)
		w := newNode(t, s, "w", doubling(t, "w", newTally()), workerOnly)
		spy := natstest.Connect(t, s)
		frames, err := spy.SubscribeSync(said + ".work.assign.w")
		if err != nil {
			t.Fatal(err)
		}
		if err := spy.Flush(); err != nil {
			t.Fatal(err)
		}
		c := New(t, s)
		// proofs has tasks run, and says of each whether its frame was signed by the node that
		// leads.
		proofs := func(by *node, n int) string {
			t.Helper()
			key := bridge.LeaseOf(hostOf(t, by)).(interface{ Signer() *fencing.Signer }).Signer().PublicKey()
			verifier, err := fencing.NewVerifier(key)
			if err != nil {
				t.Fatal(err)
			}
			var of strings.Builder
			for i := range n {
				runOne(t, c, i, by, w)
				m, err := frames.NextMsg(time.Second)
				if err != nil {
					t.Fatal(err)
				}
				raw, proof, err := frame.Open(m.Data)
				if err != nil {
					t.Fatal(err)
				}
				v, _, _, err := frame.DecodeAssign(raw)
				switch signed := verifier.Verify(raw, proof) == nil; {
				case err != nil:
					t.Fatal(err)
				case signed && v.Key != "":
					of.WriteString("s")
				case !signed && v.Key == "":
					of.WriteString("-")
				default:
					t.Fatalf("signed: %t, with the key %q", signed, v.Key)
				}
			}
			return of.String()
		}
		if got := proofs(a, 4); got != "s---" {
			t.Errorf("signed: %s", got)
		}
		b := newNode(t, s, "b", nil)
		a.close(t)
		leader(t, b)
		if got := proofs(b, 3); got != "---" { // its signed question was answered
			t.Errorf("signed by another scheduler: %s", got)
		}
		w.close(t)
		w = newNode(t, s, "w", doubling(t, "w", newTally()), workerOnly)
		if got := proofs(b, 3); got != "s--" {
			t.Errorf("signed for another session: %s", got)
		}
		if n := w.count(isRejected("signature")) + b.count(isRejected("signature")); n > 0 {
			t.Errorf("%d refused", n)
		}
	})
}

// TestFalseKeys: somebody answers each frame in the worker's name, sooner than the worker, with a
// key of his own. Then the scheduler signs its frames, says so, and all tasks run.
func TestFalseKeys(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		a := newNode(t, s, "a", nil)
		leader(t, a)
		w := newNode(t, s, "w", doubling(t, "w", newTally()), workerOnly)
		liar := natstest.Connect(t, s)
		key := strings.Repeat("k", frame.KeySize) // each such text is the key of somebody (RFC 7748, 5)
		_, err := liar.Subscribe(said+".work.assign.w", func(m *nats.Msg) {
			raw, _, err := frame.Open(m.Data)
			if err != nil {
				t.Error(err)
				return
			}
			v, _, _, err := frame.DecodeAssign(raw)
			if err != nil {
				t.Error(err)
				return
			}
			if err := liar.Publish(m.Reply, frame.EncodeAnswers(v.Session, v.Number, nil, key)); err != nil {
				t.Error(err)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := liar.Flush(); err != nil {
			t.Fatal(err)
		}
		c := New(t, s)
		for i := range 10 {
			runOne(t, c, i, a, w)
		}
		if a.count(isRejected("signature")) == 0 {
			t.Error("nothing says that somebody answers in the worker's name")
		}
		if n := w.count(isRejected("signature")); n > 2 {
			t.Errorf("the worker has refused %d frames", n)
		}
	})
}
